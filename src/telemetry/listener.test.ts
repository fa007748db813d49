import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { openMemoryStore } from "../store/index.ts";
import { serveMetrics } from "./listener.ts";
import { ProcessTelemetry } from "./process-telemetry.ts";
import { parseExposition } from "./test-exposition.ts";

it("serves the metrics of a process, its health and its readiness on loopback", async () => {
  await using store = openMemoryStore();
  using telemetry = new ProcessTelemetry({ store, countChildren: () => 3 });
  const problems: string[] = [];
  await using listener = await serveMetrics({
    port: 0,
    collect: () => Promise.resolve(telemetry.meter.collect()),
    findProblem: () => Promise.resolve(problems[0]),
  });
  expect(listener.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const response = await fetch(`${listener.url}/metrics`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const families = parseExposition(await response.text());
  expect(families.get("rookery_child_processes")?.samples[0]?.value).toBe(3);
  expect(families.get("rookery_memory_resident_bytes")?.samples[0]?.value).toBeGreaterThan(1e6);
  expect(families.get("rookery_event_loop_delay_seconds")?.samples).toHaveLength(3);
  const status = async (path: string, init?: RequestInit) => (await fetch(`${listener.url}${path}`, init)).status;
  expect([await status("/v1/health"), await status("/v1/ready")]).toEqual([200, 200]);
  problems.push("the store is away");
  expect([await status("/v1/health"), await status("/v1/ready")]).toEqual([200, 503]);
  expect(await (await fetch(`${listener.url}/v1/ready`)).text()).toBe('{"ready":false}');
  expect([await status("/other"), await status("/metrics", { method: "POST" })]).toEqual([404, 405]);
  const { port } = new URL(listener.url);
  await expect(
    serveMetrics({
      port: Number(port),
      collect: () => Promise.resolve([]),
      findProblem: () => Promise.resolve(undefined),
    }),
  ).rejects.toMatchObject({ code: "port_unavailable" });
});

it("answers while others hold connections open, and refuses a host name that is not local", async () => {
  await using listener = await serveMetrics({
    port: 0,
    collect: () => Promise.resolve([]),
    findProblem: () => Promise.resolve(undefined),
  });
  const port = Number(new URL(listener.url).port);
  const begun = [
    "",
    "GET /metrics HTTP/1.1\r\nX: ",
    "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
  ];
  const idle = Array.from({ length: 100 }, (_, index) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }).on("error", () => undefined);
    socket.write(begun[index % begun.length] ?? "");
    return socket.pause();
  });
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  const status = async (host: string): Promise<number | undefined> => {
    const request = get({ port, host: "127.0.0.1", path: "/v1/ready", agent: false, headers: { host } });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  expect(await status(`127.0.0.1:${port}`)).toBe(200);
  expect(await status("localhost")).toBe(200);
  expect(await status(`pages.invalid:${port}`)).toBe(403);
  for (const socket of idle) socket.destroy();
});
