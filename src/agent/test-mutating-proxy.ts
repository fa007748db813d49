/** A proxy in front of the scripted model server. It changes the first reply to each prompt. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mutateLine } from "../programs/test-mutations.ts";
import { Random } from "../programs/test-fuzz.ts";

export interface MutatingProxy extends AsyncDisposable {
  readonly url: string;
}

/** Prompts contain their seed as `seed 12`. Later requests with the same seed pass through unchanged. */
export async function startMutatingProxy(upstream: string): Promise<MutatingProxy> {
  const seen = new Set<number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void pass(Buffer.concat(chunks)).catch(() => response.destroy()));
    const pass = async (body: Buffer): Promise<void> => {
      const headers = Object.entries(request.headers).filter(([name]) => !["host", "content-length"].includes(name));
      const answer = await fetch(`${upstream}${request.url ?? ""}`, {
        method: request.method ?? "POST",
        headers: Object.fromEntries(headers) as Record<string, string>,
        body,
      });
      const text = await answer.text();
      const seed = Number(/seed (\d+)/.exec(body.toString())?.[1]);
      const isFirst = !Number.isNaN(seed) && !seen.has(seed);
      seen.add(seed);
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
      response.end(isFirst ? mutateStream(new Random(seed), text) : text);
    };
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Changes, drops, repeats or cuts one to three lines of the stream. */
function mutateStream(random: Random, text: string): string {
  const lines = text.split("\n");
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const at = random.below(lines.length);
    const line = lines[at] ?? "";
    const [, field = "", data = ""] = /^(data: ?)(.*)$/.exec(line) ?? [];
    if (random.chance(0.1)) lines.splice(at, 1);
    else if (random.chance(0.05)) lines.splice(at);
    else if (random.chance(0.1)) lines.splice(random.below(lines.length), 0, line);
    else lines[at] = field === "" ? mutateLine(random, line) : `${field}${mutateLine(random, data)}`;
  }
  return lines.join("\n");
}
