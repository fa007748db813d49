// The baseline: the same requests and file reads without an agent, a log or a library.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Runs one turn: sends requests and executes the calls. Passes the text of the stream to `heard`. */
export async function bareTurn(url, { prompt, folder, heard = () => undefined }) {
  const messages = [{ role: "user", content: prompt }];
  for (;;) {
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "fake" },
      body: JSON.stringify({ model: "bench", max_tokens: 1_000, stream: true, messages }),
    });
    let text = "";
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      text += piece;
      heard(piece);
    }
    const id = /"id":"(toolu_\d+)"/.exec(text)?.[1];
    if (id === undefined) return;
    const content = await readFile(join(folder, "file"), "utf8");
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id, name: "read", input: { path: "file" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
    );
  }
}

const [, file, flag, url] = process.argv;
if (flag === "--print" && file.endsWith("bare.mjs")) {
  await bareTurn(url, {
    prompt: process.argv[4],
    folder: ".",
    heard: (piece) => {
      for (const [, text] of piece.matchAll(/"text":"([^"]+)"/g)) process.stdout.write(text);
    },
  });
}
