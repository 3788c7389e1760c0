// What a batch will look like, asked of the server before it starts.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answered, api, type BatchOptions } from "@/api/client";

/** How long what is wanted has to stay the same before it is asked about. */
const REST_MS = 200;

/** The value as it was when it rested last. */
function useRested(value: string): string {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

/** The preview of a batch; while another one is asked for, the old one stays and `isOld` says so. */
export function usePreview(wanted: BatchOptions) {
  const text = JSON.stringify(wanted);
  const rested = useRested(text);
  const asked = useQuery({
    queryKey: ["preview", rested],
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) =>
      answered(api.POST("/api/batches/preview", { body: JSON.parse(rested) as BatchOptions, signal })),
  });
  return { preview: asked.data, error: asked.error, isOld: asked.isPlaceholderData || text !== rested };
}
