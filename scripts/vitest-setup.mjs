import { prepare } from "./prepare.mjs";

/** The CLI tests start the built program, so a bare `npx vitest` builds it as `npm test` does. */
export default async function setup() {
  await prepare({ build: true });
}
