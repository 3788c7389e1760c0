// Sets the theme before the first picture is drawn.
(() => {
  let wish = null;
  try {
    wish = localStorage.getItem("pleach:theme");
  } catch {
    // Without storage the system's wish counts.
  }
  const light = wish === "light" || (wish !== "dark" && matchMedia("(prefers-color-scheme: light)").matches);
  document.documentElement.dataset.theme = light ? "light" : "dark";
})();
