import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createContractFolders } from "../src/backends/contract/folders.ts";
import type { SessionEvent } from "../src/domain/index.ts";
import { Rookery } from "../src/rookery.ts";
import { DisposeStack } from "../src/stdx/index.ts";
import { openMemoryStore } from "../src/store/index.ts";
import { collect, startModelServer, transcript } from "../src/testing/index.ts";
import { programs } from "./programs/index.mjs";

it.each(["claude", "codex"] as const)(
  "the real %s continues a turn that was killed, without a prompt",
  async (name) => {
    await using owned = new DisposeStack();
    const place = owned.use(await createContractFolders());
    const recipe = programs[name];
    let stalls = true;
    const model = owned.use(
      await startModelServer(({ toolNames, toolResults }) => {
        if (toolNames.length === 0) return { text: "A title" };
        if (toolResults.length === 0) return { toolCalls: [recipe.permissionCall({ file: place.files.made })] };
        return stalls
          ? { text: ["Thinking", ...Array<string>(9).fill("…")], fault: { kind: "stall", afterEvents: 8 } }
          : { text: ["Continued."] };
      }),
    );
    const { env, toml } = await recipe.prepare({ ...place, modelUrl: model.url });
    const home = join(place.root, "rookery");
    await mkdir(home, { recursive: true });
    await writeFile(join(home, "rookery.toml"), `[agents.${name}]\n${toml}\n`);
    const store = owned.use(openMemoryStore());
    const rookery = owned.use(await Rookery.open({ env, cwd: place.cwd, store, home }));
    const session = owned.use(await rookery.openSession({ agent: name, permissions: "all" }));

    const first: SessionEvent[] = [];
    for await (const event of session.prompt("Please make the file.")) {
      first.push(event);
      const said = first.flatMap((each) => (each.type === "message.delta" ? [each.text] : [])).join("");
      const program = first.find((each) => each.type === "process.started");
      if (said.includes("Thinking") && stalls && program !== undefined) {
        stalls = false;
        process.kill(program.pid, "SIGKILL");
      }
    }
    expect(transcript(first).at(-1)).toMatch(/^ended failed/);

    const events = await collect(session.resume());
    expect(transcript(events)).toEqual(expect.arrayContaining(["started ", "says Continued.", "ended done"]));
    const sent = JSON.stringify(model.requests.at(-1)?.messages);
    expect(sent.split("Please make the file.")).toHaveLength(2);
  },
);
