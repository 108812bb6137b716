// Runs before the first paint, so that a stored theme does not flash. A file, because the policy forbids inline code.
(() => {
  const stored = localStorage.getItem("oaas-theme");
  if (stored === "dark" || stored === "light") document.documentElement.dataset.theme = stored;
})();
