/** Bundles the command as the next version would be: it has another version and one more migration. */
import { fileURLToPath } from "node:url";
import { bundleProgram, type Bundle } from "../../support/bundle.ts";

/** What `command.ts` says. */
export const NEXT_VERSION = "99.0.0";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const SCHEMA = path("../../../src/store/postgres/schema.ts");
const NEXT_SCHEMA = path("schema.ts");

export function bundleNextVersion(): Promise<Bundle> {
  return bundleProgram(path("command.ts"), [
    {
      name: "one more migration",
      async resolveId(source, importer) {
        if (!source.endsWith("schema.ts") || importer === undefined || importer === NEXT_SCHEMA) return null;
        const found = await this.resolve(source, importer, { skipSelf: true });
        return found?.id === SCHEMA ? NEXT_SCHEMA : null;
      },
    },
  ]);
}
