// A separate process that shares a folder of logins with others. It reads one command per line from stdin.
import { createInterface } from "node:readline";
import { createViteServer } from "vitest/node";

const [folder, url] = process.argv.slice(2);
const loader = await createViteServer({
  configFile: false,
  logLevel: "silent",
  appType: "custom",
  esbuild: { target: "node20" }, // it has no `await using`
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
});
const { openAuthorizers } = await loader.ssrLoadModule(new URL("./index.ts", import.meta.url).pathname);
const vault = openAuthorizers({ folder }).for({ type: "http", name: "vault", url, headers: {} });
const say = (word) => process.stdout.write(`${word}\n`);
const { signal } = new AbortController();

const DOES = {
  async login() {
    const ask = async (question, { completed }) => {
      say("asked");
      await (await fetch(question.url)).text();
      await completed;
      return { action: "accept" };
    };
    return (await vault.login({ ask, signal })).status;
  },
  async hang() {
    return (await vault.login({ ask: () => (say("asked"), new Promise(() => undefined)), signal })).status;
  },
  async fetch() {
    const response = await vault.fetch(url, { method: "DELETE" });
    await response.text();
    return response.status === 401 ? "refused" : "let in";
  },
};

createInterface({ input: process.stdin })
  .on("line", (word) => void DOES[word]().then(say, (error) => say(String(error))))
  .on("close", () => process.exit());
say("up");
