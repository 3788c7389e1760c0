// Keeps the page where it is when a file is dropped on it: the browser would show the file in its place.

import { useEffect } from "react";

function refuse(event: DragEvent) {
  if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
}

/** Refuses files wherever nothing takes them. */
export function useNoDrop() {
  useEffect(() => {
    window.addEventListener("dragover", refuse);
    window.addEventListener("drop", refuse);
    return () => {
      window.removeEventListener("dragover", refuse);
      window.removeEventListener("drop", refuse);
    };
  }, []);
}
