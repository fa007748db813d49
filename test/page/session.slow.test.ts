// own process: starts a browser
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/domain/index.ts";
import { openHttp, type HttpScene } from "../../src/server/http/test-scene.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { call, say, temporaryFolder } from "../../src/testing/index.ts";
import { findBrowser, startBrowser } from "./browser.ts";
import { DEMO_EVENTS, DEMO_PERMISSION, DEMO_QUESTION } from "./demo-events.ts";
import { SessionLog } from "./session-log.ts";

const found = await findBrowser();
const isSlowRun = process.env["ROOKERY_SLOW"] === "1";
/** One pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

describe.skipIf("missing" in found)(`the session screen${"missing" in found ? `: ${found.missing}` : ""}`, () => {
  const owned = new DisposeStack();
  let scene: HttpScene;
  let browser: Browser;
  beforeAll(async () => {
    scene = owned.use(
      await openHttp(({ toolResults, lastUserText }) => {
        if (toolResults.length > 0) return say("That is **done**.");
        return lastUserText.includes("run it") ? call("bash", { command: "true" }) : say("Hello from the *model*.");
      }),
    );
    browser = await startBrowser(owned.use(await temporaryFolder()).path);
    owned.defer(() => browser.close());
  });
  afterAll(() => owned[Symbol.asyncDispose]());

  /** A page of a new browser profile, signed in. */
  async function openSession(id: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    await page.goto(scene.server.makeSignInLink().url);
    await page.getByRole("heading", { name: "Roster" }).waitFor();
    await page.goto(`${scene.server.url}/session/${id}`);
    await page.getByRole("group", { name: "Transcript" }).waitFor();
    return page;
  }

  async function newSession(): Promise<string> {
    return (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json.id;
  }

  async function readLog(id: string): Promise<readonly SessionEvent[]> {
    return (await scene.store.read({ sessionId: id })).events;
  }

  it("shows the conversation at its end, and older parts above", async () => {
    const log = await new SessionLog(scene.store).open();
    await log.add(DEMO_EVENTS);
    await log.add([{ type: "turn.ended", outcome: { status: "done" } }]);
    const page = await openSession(log.id);
    await page.getByText("43.5k tokens").waitFor();
    await page.getByRole("link", { name: "the report" }).waitFor();
    await page.getByRole("group", { name: "Transcript" }).evaluate((node) => node.scrollTo(0, 0));
    await page.getByRole("button", { name: "Edit src/queue.ts" }).click();
    await page.getByRole("group", { name: "Changes of src/queue.ts" }).getByText("return last;").waitFor();
    await page.getByRole("button", { name: "Run npm test failed" }).click();
    await page.getByText("1 failed, 41 passed").waitFor(); // without its colors
  });

  it("sends a prompt with Enter, and shows the answer as it arrives", async () => {
    const id = await newSession();
    const page = await openSession(id);
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("hi");
    await box.press("Shift+Enter");
    await box.pressSequentially("there");
    await box.press("Enter");
    await page.getByText("Hello from the model.").waitFor();
    expect(await box.inputValue()).toBe("");
    const [prompt] = (await readLog(id)).filter(({ type }) => type === "turn.started");
    expect(prompt).toMatchObject({ input: [{ type: "text", text: "hi\nthere" }] });
  });

  it("is found by a search for its words, and opens at the event", async () => {
    const log = await new SessionLog(scene.store).open("/tmp", "Birds");
    const says = (text: string) => ({ type: "message.completed" as const, messageId: text, text });
    await log.add([says("The lammergeier eats bones."), ...Array.from({ length: 900 }, (_, at) => says(`Line ${at}`))]);
    const page = await openSession(await newSession());
    await page.goto(scene.server.url);
    await page.keyboard.press("/");
    await page.keyboard.type("BONES lammergeier");
    const results = page.getByRole("region", { name: "In the logs" });
    await results.getByRole("link", { name: "Birds" }).click();
    await page.locator(".found").getByText("The lammergeier eats bones.").waitFor();
    expect(new URL(page.url()).hash).toBe("#seq-2");
    await page.getByRole("button", { name: "↓ End" }).click();
    await page.getByText("Line 899").waitFor();
  });

  it("forks before a prompt, with the prompt to edit, and after a message", async () => {
    const id = await newSession();
    for (const input of ["first", "second"]) {
      const { seq } = (await scene.post(`/v1/sessions/${id}/turns`, { input })).json;
      for await (const event of scene.store.follow({ sessionId: id, after: seq }))
        if (event.type === "turn.ended") break;
    }
    const page = await openSession(id);
    const fork = async (label: string, at: "first" | "last"): Promise<readonly SessionEvent[]> => {
      const before = page.url();
      await page.getByRole("button", { name: label })[at]().press("Enter");
      await page.waitForURL((url) => url.href !== before);
      await page.getByRole("group", { name: "Transcript" }).waitFor();
      return readLog(page.url().split("/").at(-1) ?? "");
    };
    const countTurns = (events: readonly SessionEvent[]): number =>
      events.filter(({ type }) => type === "turn.ended").length;
    expect(countTurns(await fork("Fork before this", "last"))).toBe(1);
    await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("second");
    await page.getByText("Hello from the model.").waitFor();
    await page.goto(`${scene.server.url}/session/${id}`);
    expect(countTurns(await fork("Fork after this turn", "first"))).toBe(1);
    await page.goto(`${scene.server.url}/session/${id}`);
    expect(countTurns(await fork("Fork from here", "last"))).toBe(2);
  });

  it("answers a permission request with a key, and says who answered", async () => {
    const id = await newSession();
    const [page, other] = [await openSession(id), await openSession(id)];
    await scene.post(`/v1/sessions/${id}/turns`, { input: "run it" });
    await other.getByRole("button", { name: "Allow y" }).waitFor();
    await page.getByRole("button", { name: "Show" }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Allow y");
    await page.keyboard.press("y");
    await page.getByText("allowed by you").waitFor();
    await other.getByText("allowed by a person").waitFor();
    await other.getByText("That is done.").waitFor();
  });

  it.skipIf(!isSlowRun)("tells the second of two people that the first one's answer counts", async () => {
    const id = await newSession();
    const page = await openSession(id);
    await scene.post(`/v1/sessions/${id}/turns`, { input: "run it" });
    await page.getByRole("button", { name: "Deny n" }).waitFor();
    await page.route("**/requests/*", async (route) => {
      const { requests } = (await scene.get(`/v1/sessions/${id}/requests`)).json;
      await scene.post(`/v1/sessions/${id}/requests/${requests[0]?.requestId}`, { decision: "allow" });
      await route.continue();
    });
    await page.getByRole("button", { name: "Deny n" }).click();
    await page.getByText("allowed by a person. Your answer came later").waitFor();
  });

  it("steers a running turn, and cancels it with Escape", async () => {
    const id = await newSession();
    const page = await openSession(id);
    await scene.post(`/v1/sessions/${id}/turns`, { input: "run it" });
    await page.getByRole("button", { name: "Cancel turn" }).waitFor();
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("and then stop");
    await box.press("Alt+Enter");
    await page.getByRole("list", { name: "Waiting to be delivered" }).getByText("and then stop").waitFor();
    await box.press("Escape");
    await page.getByText("cancelled", { exact: true }).first().waitFor();
    const queued = (await readLog(id)).filter(({ type }) => type === "input.queued");
    expect(queued.map((event) => "deliver" in event)).toEqual([false]); // after the turn is the default
  });

  it("withdraws a message that the agent has not received yet, so that it can be edited", async () => {
    const id = await newSession();
    const page = await openSession(id);
    await scene.post(`/v1/sessions/${id}/turns`, { input: "run it" });
    await page.getByRole("button", { name: "Cancel turn" }).waitFor();
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("and then stop");
    await box.press("Alt+Enter");
    await page.getByRole("button", { name: "Take back: and then stop" }).click();
    await page.getByRole("list", { name: "Waiting to be delivered" }).waitFor({ state: "detached" });
    expect(await box.inputValue()).toBe("and then stop");
    expect((await readLog(id)).at(-1)).toMatchObject({ type: "input.withdrawn" });
  });

  it.each<[string, string, string, object]>([
    ["a tool", "Allow every bash for session A", "bash", { tool: "bash" }],
    ["a command", "Allow true … for session a", "bash: true …", { tool: "bash", prefix: "true" }],
  ])("asks again before %s that was allowed for the session", async (_, allow, name, revoked) => {
    const id = await newSession();
    const page = await openSession(id);
    await scene.post(`/v1/sessions/${id}/turns`, { input: "run it" });
    await page.getByRole("button", { name: allow, exact: true }).click();
    await page.getByText("That is done.").waitFor();
    await page.getByRole("button", { name: /Ask before changes/ }).click();
    const again = page.getByRole("button", { name: `Ask again before ${name}`, exact: true });
    await again.click();
    await again.waitFor({ state: "detached" });
    const last = (await readLog(id)).at(-1) ?? {};
    expect(last).toMatchObject({ type: "permission.revoked", ...revoked });
    expect("prefix" in last).toBe("prefix" in revoked);
  });

  it.skipIf(!isSlowRun)("sends files that are pasted or chosen, and shows images", async () => {
    const id = await newSession();
    const page = await openSession(id);
    await page.locator("input[type=file]").setInputFiles([
      { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") },
      { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) },
    ]);
    const list = page.getByRole("list", { name: "Attachments" });
    await list.getByText("the body is empty").waitFor();
    await page.getByRole("button", { name: "Remove empty.txt" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("look");
    await page.getByRole("button", { name: "Send" }).click();
    const image = page.getByRole("img", { name: "dot.png" });
    await image.waitFor();
    expect(await image.getAttribute("src")).toMatch(/^blob:/);
    await expect.poll(() => image.evaluate((node: HTMLImageElement) => node.naturalWidth)).toBe(1);
  });

  it("keeps the text and says why if the server refuses it, and sends it once if the answer gets lost", async () => {
    const id = await newSession();
    const page = await openSession(id);
    const box = page.getByRole("textbox", { name: "Message" });
    await page.route("**/turns", (route) =>
      route.fulfill({ status: 422, json: { code: "agent_unknown", detail: "no agent has this name" } }),
    );
    await box.fill("hello");
    await box.press("Enter");
    await page.getByRole("alert").getByText("no agent has this name").waitFor();
    expect(await box.inputValue()).toBe("hello");
    await page.unroute("**/turns");
    await page.route("**/turns", async (route) => {
      await route.fetch(); // the server gets it, the page no answer
      await route.abort("connectionreset");
      await page.unroute("**/turns");
    });
    await box.press("Enter");
    await page.getByText("Hello from the model.").waitFor();
    await expect.poll(() => box.inputValue()).toBe("");
    expect((await readLog(id)).filter(({ type }) => type === "turn.started")).toHaveLength(1);
  });

  it.each<"light" | "dark">(isSlowRun ? ["light", "dark"] : ["light"])(
    "has no accessibility violations, %s",
    async (colorScheme) => {
      const log = await new SessionLog(scene.store).open();
      await log.add([...DEMO_EVENTS, DEMO_PERMISSION, DEMO_QUESTION]);
      const page = await openSession(log.id, { colorScheme, viewport: { width: 1280, height: 2_400 } });
      await page.getByRole("button", { name: "Answer" }).waitFor();
      await page.getByRole("button", { name: "Edit src/queue.ts" }).click();
      await page.getByRole("button", { name: "Thought" }).click();
      await page.getByRole("button", { name: /Ask before changes/ }).click();
      await page.getByRole("combobox", { name: "Agent" }).waitFor();
      await page.evaluate(axe.source);
      const violations = await page.evaluate(async () => {
        const { axe: checker } = window as unknown as { readonly axe: typeof axe };
        const results = await checker.run(document, { resultTypes: ["violations"] });
        return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      });
      expect(violations).toEqual([]);
    },
  );

  it.skipIf(!isSlowRun)("answers a question with a form, and names the fields that are wrong", async () => {
    const log = await new SessionLog(scene.store).open();
    await log.add([{ type: "turn.started", input: [{ type: "text", text: "x" }] }, DEMO_QUESTION]);
    const page = await openSession(log.id);
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByText("Choose one").waitFor();
    await page.getByText("Choose at least 1").waitFor();
    await page.getByRole("combobox", { name: "Branch" }).selectOption("1.x");
    await page.getByRole("checkbox", { name: "docs" }).check();
    await page.getByRole("textbox", { name: /Days/ }).fill("7");
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByText("answered by you").waitFor();
    expect((await readLog(log.id)).at(-1)).toMatchObject({
      type: "question.answered",
      content: { branch: "1.x", days: 7, urgent: false, notify: ["docs"] },
    });
  });
});
