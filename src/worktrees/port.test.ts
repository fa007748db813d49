import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/repository.ts";
import { leasePort, releasePort } from "./port.ts";
import { expectRejection } from "./test-scene.ts";

it("many tasks at once have a port each, and keep it until they let it go", async () => {
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

it.each(["127.0.0.1", "0.0.0.0", "::1"])("a port that someone has on %s is not given", async (host) => {
  await using folder = await temporaryFolder();
  const server = createServer().listen(0, host);
  const heard = await once(server, "listening").then(
    () => true,
    () => false, // no such address on this machine
  );
  if (!heard) return;
  const { port } = server.address() as AddressInfo;
  await expectRejection(leasePort({ folder: folder.path, task: "t1", range: [port, port] }), "port_unavailable", /t1/);
  server.close();
  await once(server, "close");
  expect(await leasePort({ folder: folder.path, task: "t1", range: [port, port] })).toBe(port);
  await expectRejection(leasePort({ folder: folder.path, task: "t2", range: [port, port] }), "port_unavailable");
});

it("what is no task's id is refused", async () => {
  await using folder = await temporaryFolder();
  await expectRejection(leasePort({ folder: folder.path, task: "../x" }), "input_invalid");
});
