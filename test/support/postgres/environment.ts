/** Replaces `src/testing/environment.ts`: commands and libraries that get the environment use PostgreSQL. */
import { join } from "node:path";
import { builtEnvironment as build, type BuiltEnvironmentOptions } from "../../../src/testing/environment.ts";
import { storeVariables } from "./schemas.ts";

export type { BuiltEnvironmentOptions } from "../../../src/testing/environment.ts";

export function builtEnvironment(options: BuiltEnvironmentOptions): Record<string, string> {
  const env = build(options);
  return { ...storeVariables(join(env["ROOKERY_HOME"] ?? "", "rookery.db")), ...env };
}
