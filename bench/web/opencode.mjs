// The page of `opencode serve` beside ours, with the same conversation: 1,000 questions and answers without tools. opencode
// imports it from a file, which is made from one turn with a scripted model.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { builtEnvironment, say, startModelServer, temporaryFolder } from "../../dist/testing/index.js";
import { OPENCODE_SETTINGS, startOpencode } from "../peers/opencode.mjs";
import { asked } from "../server/program.mjs";
import { median } from "../table.mjs";
import { watchText } from "./in-page.mjs";
import { END, PEER_SESSION, PEER_TURNS, toPeerTurn } from "./logs.mjs";
import { measureHeap, newPage, signIn, startServer } from "./scene.mjs";

const SETTLE_MS = 1_000;
const MAX_EXPORT_BYTES = 64 * 1024 ** 2;

export async function measureOpencode({ browser, folder, rounds }, program) {
  const own = await startServer(folder);
  const ours = await measurePage(rounds, {
    open: () => signIn(browser, own),
    url: `${own.base}/session/${PEER_SESSION}`,
  });
  await own[Symbol.asyncDispose]();
  const theirs = await measurePeer(browser, program, rounds);
  const compare = (name, key, unit) => [
    { name: `1,000 questions and answers: ${name}`, value: ours[key], unit },
    { name: "the same on the page of opencode", value: theirs[key], unit },
  ];
  return [
    ...compare("first open in a profile, until the end is painted", "first", "ms"),
    ...compare("second open", "second", "ms"),
    ...compare("JavaScript heap after a collection", "heap", "MB"),
    ...compare("JavaScript that the page loads, gzipped", "scripts", "KB"),
  ];
}

async function measurePeer(browser, program, rounds) {
  const folder = await temporaryFolder();
  const model = await startModelServer(({ toolNames }) => say(toolNames.length === 0 ? "A title" : "An answer"));
  const server = await startOpencode({ folder: folder.path, model, program });
  try {
    const { url, prompt } = await server.openSession();
    const base = url.replace(/\/event$/, "");
    await prompt();
    const [{ id, directory }] = await asked(`${base}/session`, {});
    const imported = await importConversation({ program, folder: folder.path, id });
    const page = `${base}/${Buffer.from(directory).toString("base64url")}/session/${imported}`;
    const open = async () => {
      const opened = await newPage(browser);
      await opened.page.goto(base); // as the sign-in of ours, which loads the scripts of the start
      await opened.page.waitForTimeout(SETTLE_MS);
      return opened;
    };
    return await measurePage(rounds, { open, url: page });
  } finally {
    await server[Symbol.asyncDispose]();
    await model.close();
    await folder[Symbol.asyncDispose]();
  }
}

/** Exports the session, repeats its turn, and imports the result as another session. Resolves with its id. */
async function importConversation({ program, folder, id }) {
  const env = builtEnvironment({ home: folder, extra: OPENCODE_SETTINGS });
  const options = { cwd: join(folder, "work"), env, maxBuffer: MAX_EXPORT_BYTES };
  const { stdout } = await promisify(execFile)(program, ["export", id], options);
  const { info, messages } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  const sessionID = `${id.slice(0, -4)}Long`;
  const [question, answer] = messages;
  const start = question.info.time.created;
  const all = Array.from({ length: PEER_TURNS }, (_, turn) => {
    const texts = toPeerTurn(turn);
    const ids = [0, 1].map((at) => `msg_${toOrdered(turn * 2 + at)}`);
    return [question, answer].map((message, at) => {
      const created = start + turn * 2 + at;
      const time = at === 0 ? { created } : { created, completed: created };
      const parent = at === 0 ? {} : { parentID: ids[0] };
      const parts = message.parts.map((part, index) => {
        const text = part.type === "text" ? { text: texts[at] } : {};
        const partId = `prt_${toOrdered(turn * 2 + at)}${index}`;
        return { ...part, ...text, id: partId, messageID: ids[at], sessionID };
      });
      return { info: { ...message.info, ...parent, id: ids[at], sessionID, time }, parts };
    });
  }).flat();
  const file = join(folder, "conversation.json");
  await writeFile(file, JSON.stringify({ info: { ...info, id: sessionID, title: "Long" }, messages: all }));
  await promisify(execFile)(program, ["import", file], options);
  return sessionID;
}

/** Its ids sort by time and have 26 characters. */
function toOrdered(number) {
  return `1ec45${number.toString(16).padStart(7, "0")}001BenchBench0`.slice(0, 25);
}

async function measurePage(rounds, { open, url }) {
  const [firsts, seconds, heaps, scripts] = [[], [], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const { context, page } = await open();
    await context.addInitScript(watchText, { selector: "p", text: END });
    firsts.push(await untilShown(page, url));
    const bodies = new Map();
    page.on("response", (response) => {
      if (/\.js$/.test(new URL(response.url()).pathname))
        bodies.set(
          response.url(),
          response.body().catch(() => ""),
        );
    });
    seconds.push(await untilShown(page, url));
    await page.waitForTimeout(SETTLE_MS);
    heaps.push(await measureHeap(page));
    const sizes = (await Promise.all(bodies.values())).map((body) => gzipSync(body).length);
    scripts.push(sizes.reduce((sum, size) => sum + size, 0) / 1024);
    await context.close();
  }
  return { first: median(firsts), second: median(seconds), heap: median(heaps), scripts: median(scripts) };
}

async function untilShown(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => globalThis.benchShown !== undefined);
  return page.evaluate(() => globalThis.benchShown);
}
