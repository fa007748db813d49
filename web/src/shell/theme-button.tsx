/** Switches between the system's theme, light and dark. */
import { createEffect, createSignal, type JSX } from "solid-js";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const STORAGE_NAME = "rookery-theme";

function storedTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_NAME);
  return THEMES.find((theme) => theme === stored) ?? "system";
}

export function ThemeButton(): JSX.Element {
  const [theme, setTheme] = createSignal(storedTheme());
  createEffect(() => {
    localStorage.setItem(STORAGE_NAME, theme());
    if (theme() === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme();
  });
  const next = (): Theme => THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] ?? "system";
  return (
    <button class="plain small" onClick={() => setTheme(next())} title={`Use the ${next()} theme`}>
      Theme: {theme()}
    </button>
  );
}
