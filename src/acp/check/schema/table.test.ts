import { createRequire } from "node:module";
import { format } from "prettier";
import { expect, it } from "vitest";
import { slimmed } from "./test-slim.ts";

const require = createRequire(import.meta.url);

/** A module and no JSON file: a bundler evaluates that when the program starts, and this when it is needed. */
const HEAD = `/** What an agent may send: made by \`vitest -u\` from schema/v1/schema.json of @agentclientprotocol/sdk (Apache-2.0). */`;

it("the table is made from the schema of the installed package", async () => {
  const schema = require("@agentclientprotocol/sdk/schema/v1/schema.json") as Parameters<typeof slimmed>[0];
  const module = `${HEAD}\nexport const table = ${JSON.stringify(slimmed(schema))};\n`;
  await expect(await format(module, { parser: "typescript", printWidth: 120 })).toMatchFileSnapshot(
    "./agent-messages.ts",
  );
});
