import { prepare } from "./prepare.mjs";
import { warmCodeCache } from "./warm-code-cache.mjs";

/** The CLI tests start the built program, so a bare `npx vitest` builds it as `npm test` does; SKIP_BUILD=1 does not. */
export default async function setup() {
  if (process.env.SKIP_BUILD === undefined) await prepare({ build: true });
  warmCodeCache();
}
