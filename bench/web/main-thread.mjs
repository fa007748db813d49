// The work of a page's main thread in CPU time, which the load of the machine does not lengthen.

/**
 * Runs `work`. Resolves with its result and the longest task of the main thread of any page meanwhile, in milliseconds
 * of CPU time.
 */
export async function traceLongestTask(browser, work) {
  const client = await browser.newBrowserCDPSession();
  const traceConfig = { includedCategories: ["toplevel", "__metadata"] };
  await client.send("Tracing.start", { transferMode: "ReturnAsStream", traceConfig });
  const result = await work();
  const completed = new Promise((resolve) => client.once("Tracing.tracingComplete", resolve));
  await client.send("Tracing.end");
  const { traceEvents } = JSON.parse(await readStream(client, (await completed).stream));
  await client.detach();
  const toThread = ({ pid, tid }) => `${pid} ${tid}`;
  const isMain = ({ name, args }) => name === "thread_name" && args.name === "CrRendererMain";
  const mains = new Set(traceEvents.filter(isMain).map(toThread));
  const ofPages = traceEvents.filter((event) => event.tdur !== undefined && mains.has(toThread(event)));
  return { result, longestCpuMs: ofPages.reduce((most, { tdur }) => Math.max(most, tdur / 1_000), 0) };
}

async function readStream(client, handle) {
  for (let text = ""; ;) {
    const { data, eof, base64Encoded } = await client.send("IO.read", { handle, size: 1024 ** 2 });
    text += base64Encoded ? Buffer.from(data, "base64").toString() : data;
    if (eof) return text;
  }
}
