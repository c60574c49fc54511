// Chooses the theme before the first paint. It is a file of its own because the page allows no inline script.
try {
  const kept = localStorage.getItem("warren.theme");
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
} catch {
  // A browser that keeps nothing gets the light theme.
}
