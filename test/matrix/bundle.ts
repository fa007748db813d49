/** Bundles the program of the child process, and replaces its effect host. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram, type Bundle } from "../support/bundle.ts";
import { isOnPostgres, postgresStores } from "../support/postgres/plugin.ts";

export type { Bundle };

const HERE = fileURLToPath(new URL("./", import.meta.url));
const EFFECTS = fileURLToPath(new URL("../../src/effects/index.ts", import.meta.url));

export function bundleChild(entry = "child.ts"): Promise<Bundle> {
  return bundleProgram(join(HERE, entry), [
    isOnPostgres() && postgresStores(),
    {
      name: "effects with boundaries",
      async resolveId(source, importer) {
        if (!source.endsWith("effects/index.ts") || importer === undefined) return null;
        const found = await this.resolve(source, importer, { skipSelf: true });
        return found?.id === EFFECTS ? join(HERE, "effects.ts") : null;
      },
    },
  ]);
}
