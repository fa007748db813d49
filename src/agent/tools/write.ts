/** Writes a whole file of the working folder. */
import { z } from "zod";
import { replaceConfined } from "../../stdx/index.ts";
import { readConfined } from "./read.ts";
import { diffOf } from "./text.ts";
import { defineTool, ok, systemText } from "./tool.ts";

export const write = defineTool({
  name: "write",
  description: "Write a file of the working folder, replacing it if it exists. To change a part of a file, use edit.",
  kind: "edit",
  readOnly: false,
  input: z.strictObject({
    path: systemText().describe("relative to the working folder"),
    content: z.string().describe("the whole new text"),
  }),
  describe: ({ path }) => ({ title: `write ${path}`, locations: [{ path }] }),
  async run({ path, content }, { cwd }) {
    const before = await readConfined(cwd, path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    });
    await replaceConfined([cwd], path, content);
    const what = before === null ? "wrote" : "replaced";
    return ok(`${what} ${path} (${content.length} characters)`, {
      locations: [{ path }],
      diffs: [diffOf(path, before, content)],
    });
  },
});
