/** A server with tasks in a real repository, and a browser that is signed in to it. */
import type { Browser } from "playwright-core";
import type { TaskEvent } from "../../src/domain/index.ts";
import { openScene, type SceneOptions } from "../../src/pool/test-scene.ts";
import { serveHttp } from "../../src/server/http/index.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { temporaryFolder } from "../../src/testing/index.ts";
import { startBrowser } from "./browser.ts";

export type TaskScene = Awaited<ReturnType<typeof openTaskScene>>;

/** The agents `robin` and `wren` run the lines of their prompt that start with `run:`. */
export async function openTaskScene(options: SceneOptions = {}) {
  await using opening = new DisposeStack();
  const pool = opening.use(await openScene(options));
  const { env, rookery } = pool;
  const server = opening.use(
    await serveHttp(rookery, { port: 0, version: "1.2.3", env, cwd: pool.repository.path, log: () => undefined }),
  );
  const browser: Browser = await startBrowser(opening.use(await temporaryFolder()).path);
  opening.defer(() => browser.close());
  pool.run();
  const owned = opening.move();
  return {
    ...pool,
    server,
    browser,
    /** The events of a task with this type. */
    async eventsOf(taskId: string, type: TaskEvent["type"]) {
      const { events } = await rookery.store.readTask({ taskId });
      return events.filter((event) => event.type === type);
    },
    /** Opens a page in a new profile. `problems` gets what the console reports. */
    async openPage(path: string, use: Parameters<Browser["newContext"]>[0] = {}) {
      const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 }, ...use })).newPage();
      const problems: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(server.makeSignInLink().url);
      await page.getByRole("heading", { name: "Roster" }).waitFor();
      await page.goto(`${server.url}${path}`);
      return { page, problems };
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
