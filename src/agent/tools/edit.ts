/** Replaces an exact piece of text in a file of the working folder. */
import { z } from "zod";
import { replaceConfined } from "../../stdx/index.ts";
import { readConfined } from "./read.ts";
import { diffOf } from "./text.ts";
import { ToolRefusal, defineTool, ok, systemText } from "./tool.ts";

export const edit = defineTool({
  name: "edit",
  description:
    "Replace a piece of text in a file. old_text must stand in the file exactly as given, spaces included, and only once unless replace_all is true.",
  kind: "edit",
  readOnly: false,
  input: z.strictObject({
    path: systemText().describe("relative to the working folder"),
    old_text: z.string().min(1),
    new_text: z.string(),
    replace_all: z.boolean().optional(),
  }),
  describe: ({ path }) => ({ title: `edit ${path}`, locations: [{ path }] }),
  async run({ path, old_text, new_text, replace_all = false }, { cwd }) {
    const before = await readConfined(cwd, path);
    const pieces = before.split(old_text);
    const count = pieces.length - 1;
    if (count === 0) throw new ToolRefusal(`old_text does not stand in ${path}; read the file and give it exactly`);
    if (count > 1 && !replace_all) {
      throw new ToolRefusal(`old_text stands ${count} times in ${path}; give more of its surroundings, or replace_all`);
    }
    const after = pieces.join(new_text);
    await replaceConfined([cwd], path, after);
    const line = (pieces[0] ?? "").split("\n").length;
    return ok(`changed ${path} in ${count === 1 ? `line ${line}` : `${count} places`}`, {
      locations: [{ path, line }],
      diffs: [diffOf(path, before, after)],
    });
  },
});
