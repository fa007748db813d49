import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/repository.ts";
import { leasePort, releasePort } from "./port.ts";
import { expectRejection } from "./test-scene.ts";

it("leases a different port to each of 30 concurrent tasks and keeps it until release", async () => {
  await using folder = await temporaryFolder();
  const lease = (task: string) => leasePort({ folder: folder.path, task });
  const tasks = Array.from({ length: 30 }, (_, index) => `t${index}`);
  const ports = await Promise.all(tasks.map(lease));
  expect(new Set(ports).size).toBe(30);
  expect(await Promise.all(tasks.map(lease))).toEqual(ports);
  await releasePort(folder.path, "t3");
  await releasePort(folder.path, "t3");
  expect(await lease("t4")).toBe(ports[4]);
  expect(await lease("t3")).toBe(ports[3]);
});

it.each(["127.0.0.1", "0.0.0.0", "::1"])("does not lease a port that is in use on %s", async (host) => {
  await using folder = await temporaryFolder();
  const server = createServer().listen(0, host);
  const isListening = await once(server, "listening").then(
    () => true,
    () => false, // no such address on this machine
  );
  if (!isListening) return;
  const { port } = server.address() as AddressInfo;
  await expectRejection(leasePort({ folder: folder.path, task: "t1", range: [port, port] }), "port_unavailable", /t1/);
  server.close();
  await once(server, "close");
  expect(await leasePort({ folder: folder.path, task: "t1", range: [port, port] })).toBe(port);
  await expectRejection(leasePort({ folder: folder.path, task: "t2", range: [port, port] }), "port_unavailable");
});

it("rejects an invalid task id", async () => {
  await using folder = await temporaryFolder();
  await expectRejection(leasePort({ folder: folder.path, task: "../x" }), "input_invalid");
});
