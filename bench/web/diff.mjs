// A diff of 50,000 lines, unified and split.
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryRepository } from "../../dist/testing/index.js";
import { scrollFrames } from "./in-page.mjs";
import { traceLongestTask } from "./main-thread.mjs";
import { frameRows } from "./rows.mjs";
import { signIn, startServer } from "./scene.mjs";

const GRID = ".task-diff";
/** Pixels per frame: a wheel that turns fast, and a screen in each frame. */
const STEPS = [120, 800];
const LINES = 50_000;

export async function measureDiff({ browser, folder, rounds, frames }) {
  const server = await startServer(folder);
  const repository = await temporaryRepository({ "long.ts": toLines("old") });
  const prompt = `seq 1 ${LINES / 2} | sed 's/.*/const value& = compute(&, "new");/' > long.ts`;
  const { id } = await server.post("tasks", { cwd: repository.path, title: "Long diff", prompt, agent: "it" });
  for (;;) {
    const { status, message } = await server.get(`tasks/${id}`);
    if (status === "done") break;
    if (status === "failed") throw new Error(`the task failed: ${message}`);
    await sleep(50);
  }
  const { context, page } = await signIn(browser, server);
  const rows = [];
  for (const view of ["Unified", "Split"]) {
    const scrolled = [];
    for (let round = 0; round < rounds; round += 1) {
      await page.goto(`${server.base}/task/${id}/changes`);
      await page.getByRole("button", { name: view }).click();
      await page.getByRole("grid", { name: "Changes" }).getByText("const value1 =").first().waitFor();
      const scroll = () => page.evaluate(scrollFrames, { selector: GRID, steps: STEPS, count: frames });
      const { result, longestCpuMs } = await traceLongestTask(browser, scroll);
      scrolled.push({ times: result.times, longestCpuMs });
    }
    rows.push(...frameRows(`diff of 50,000 lines, ${view.toLowerCase()}, 120 and 800 pixels per frame`, scrolled));
  }
  await context.close();
  await server[Symbol.asyncDispose]();
  await repository[Symbol.asyncDispose]();
  return rows;
}

function toLines(word) {
  return Array.from(
    { length: LINES / 2 },
    (_, index) => `const value${index + 1} = compute(${index + 1}, "${word}");\n`,
  ).join("");
}
