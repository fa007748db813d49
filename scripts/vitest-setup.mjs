import { prepare } from "./prepare.mjs";
import { offerPostgres } from "./vitest-postgres.mjs";
import { warmCodeCache } from "./warm-code-cache.mjs";

/** The CLI tests start the built command, so a bare `npx vitest` builds it like `npm test`. SKIP_BUILD=1 skips the build. */
export default async function setup() {
  if (process.env.SKIP_BUILD === undefined) await prepare({ build: true });
  warmCodeCache();
  return offerPostgres();
}
