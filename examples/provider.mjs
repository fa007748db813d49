// Registers a provider: a model behind an HTTP server that streams one JSON value per line. Usage: provider.mjs PROMPT
import { once } from "node:events";
import { createServer } from "node:http";
import { ProviderError, Rookery } from "rookery";

/** The model, in place of a real one: it says the last message backwards. */
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  for (const word of JSON.parse(body).text.split(" ").reverse()) response.write(`${JSON.stringify({ word })}\n`);
  response.end(`${JSON.stringify({ tokens: body.length })}\n`);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${server.address().port}/`;

/** Used by agents with `model = "reverse/NAME"`. */
const reverse = {
  name: "reverse",
  open: (model) => ({
    name: `reverse/${model}`,
    contextSize: 100_000,
    price: { input: 1, output: 2 },
    stream: (request) => stream(request),
  }),
};

/** One attempt: yields text as it arrives, and the complete reply last. */
async function* stream({ messages, signal }) {
  const last = messages.at(-1);
  const text = last.role === "user" ? last.parts.map((part) => part.text ?? "").join(" ") : "";
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ text }), signal });
  if (response.status === 429) throw new ProviderError("provider_rate_limited", "wait a moment", { retry: {} });
  if (!response.ok) throw new ProviderError("provider_failed", `the server answered with ${response.status}`);
  let said = "";
  let outputTokens = 0;
  for await (const { word, tokens } of readLines(response.body)) {
    if (tokens !== undefined) outputTokens = tokens;
    else yield { type: "text", text: said === "" ? word : ` ${word}` };
    if (word !== undefined) said += said === "" ? word : ` ${word}`;
  }
  const usage = { inputTokens: text.length, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  yield { type: "reply", reply: { text: said, calls: [], stopReason: "stop", usage, native: null } };
}

async function* readLines(body) {
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

const rookery = await Rookery.open({ providers: [reverse] });
const session = await rookery.openSession({ agent: { name: "echo", model: "reverse/small" }, attended: false });
console.log(await session.prompt(process.argv[2] ?? "one two three").text());
await rookery.close();
server.close();
