/** The generated pages of the documentation, by path. `npm run docs` writes them; a test compares them with the files. */
import { apiPages } from "./api.ts";
import { cliPage } from "./cli.ts";
import { configurationPage } from "./configuration.ts";
import { errorPage } from "./errors.ts";
import { eventPage } from "./events.ts";
import { httpPage } from "./http.ts";

/** `root` is the root directory of the repository, with a slash at the end. */
export function generatePages(root: string): Record<string, string> {
  return {
    "docs/reference/cli.md": cliPage(),
    "docs/reference/configuration.md": configurationPage(),
    "docs/reference/errors.md": errorPage(),
    "docs/reference/events.md": eventPage(),
    "docs/reference/http.md": httpPage(),
    ...apiPages(root),
  };
}
