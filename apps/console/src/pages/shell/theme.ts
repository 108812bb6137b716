import { useState } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "oaas-theme";

/** The theme of this browser; `system` follows the operating system. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(() => {
    const stored = document.documentElement.dataset["theme"];
    return stored === "dark" || stored === "light" ? stored : "system";
  });
  return [
    theme,
    (next) => {
      setTheme(next);
      if (next === "system") {
        localStorage.removeItem(KEY);
        delete document.documentElement.dataset["theme"];
      } else {
        localStorage.setItem(KEY, next);
        document.documentElement.dataset["theme"] = next;
      }
    },
  ];
}
