/** The theme of the page: that of the system, light or dark. Remembered in this browser. */
import { createEffect, createSignal, type Accessor } from "solid-js";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
const STORAGE_NAME = "rookery-theme";

const [theme, setTheme] = createSignal(readStoredTheme());

export const currentTheme: Accessor<Theme> = theme;
/** The one that `switchTheme` chooses. */
export const nextTheme = (): Theme => THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] ?? "system";
export const switchTheme = (): void => void setTheme(nextTheme());

/** Shows the chosen theme until the owner is disposed. */
export function applyTheme(): void {
  createEffect(() => {
    localStorage.setItem(STORAGE_NAME, theme());
    if (theme() === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme();
  });
}

function readStoredTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_NAME);
  return THEMES.find((each) => each === stored) ?? "system";
}
