/** Test setup: the built `rookery serve` with a repository and an agent that runs the prompt as a shell command. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createClient, type RookeryClient } from "../../src/client/index.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../../src/testing/index.ts";
import { startBrowser } from "./browser.ts";

const CLI = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
const CONFIG = `[defaults]
agent = "shell"
[agents.shell]
backend = "command"
command = ["sh", "-c", "{prompt}"]
`;

export interface PageScene extends AsyncDisposable {
  readonly url: string;
  readonly client: RookeryClient;
  readonly repository: Awaited<ReturnType<typeof temporaryRepository>>;
  readonly browser: Browser;
  /** Opens a page that is signed in. */
  open(path?: string, options?: Parameters<Browser["newContext"]>[0]): Promise<Page>;
  /** Kills the server with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port. */
  restart(): Promise<void>;
}

interface SceneOptions {
  /** More of rookery.toml. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

export async function openPageScene({ config = "", env = {}, files = {} }: SceneOptions = {}): Promise<PageScene> {
  await using opening = new DisposeStack();
  const home = opening.use(await temporaryFolder());
  const repository = opening.use(await temporaryRepository({ "a.txt": "one\n", ...files }));
  await mkdir(join(home.path, ".config", "rookery"), { recursive: true });
  await writeFile(join(home.path, ".config", "rookery", "rookery.toml"), CONFIG + config);
  const environment = builtEnvironment({ home: home.path, extra: { ...GIT_IDENTITY, ...env } });
  const port = await findFreePort();
  let server: ChildProcess | undefined;
  let token = "";
  const url = `http://127.0.0.1:${port}`;
  const start = async (): Promise<void> => {
    server = spawn(process.execPath, [CLI, "serve", "--json", "--port", String(port)], {
      cwd: repository.path,
      env: environment,
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(server.stdout!, "data");
    const { readFile } = await import("node:fs/promises");
    token = (await readFile(join(environment["ROOKERY_HOME"] ?? join(home.path, ".rookery"), "token"), "utf8")).trim();
  };
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  };
  await start();
  opening.defer(kill);
  const browser = await startBrowser(home.path);
  opening.defer(() => browser.close());
  const client = createClient({ url, token });
  const owned = opening.move();
  return {
    url,
    client,
    repository,
    browser,
    async open(path = "/", options = {}) {
      const context: BrowserContext = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      const { data } = await client.POST("/v1/tickets", { body: {} });
      await page.goto(data?.url ?? "");
      await page.locator("h1").waitFor();
      if (path !== "/") await page.goto(`${url}${path}`);
      return page;
    },
    kill,
    restart: start,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

const GIT_IDENTITY = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}
