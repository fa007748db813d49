import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresBinaries, startPostgresCluster, type PostgresCluster } from "../../../scripts/postgres-cluster.mjs";
import { temporaryFolder, type TemporaryFolder } from "../../testing/index.ts";
import { inspectPostgresStore } from "./open.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

let folder: TemporaryFolder;
let cluster: PostgresCluster;
let port: number;
let data: string;
const file = (name: string) => join(folder.path, name);
const openssl = (...words: string[]) => execFileSync("openssl", words, { cwd: folder.path, stdio: "ignore" });

/** Creates `NAME.pem` and `NAME.key`. */
function createAuthority(name: string): void {
  openssl(
    ..."req -x509 -newkey rsa:2048 -nodes -days 2 -subj".split(" "),
    `/CN=${name}`,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.pem`,
  );
}

function createCertificate(name: string, common: string, { authority = "ca", days = 2 } = {}): void {
  writeFileSync(file("names"), `subjectAltName=DNS:${common}\n`);
  openssl(
    ..."req -newkey rsa:2048 -nodes -subj".split(" "),
    `/CN=${common}`,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.csr`,
  );
  openssl(
    "x509",
    "-req",
    "-in",
    `${name}.csr`,
    "-CA",
    `${authority}.pem`,
    "-CAkey",
    `${authority}.key`,
    "-CAcreateserial",
    "-days",
    String(days),
    "-extfile",
    "names",
    "-out",
    `${name}.pem`,
  );
}

/** Makes the server use another certificate for new connections. */
async function useCertificate(name: string): Promise<void> {
  installCertificate(name);
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  await client.query("select pg_reload_conf()");
  await client.end();
}

function installCertificate(name: string): void {
  for (const kind of ["pem", "key"]) copyFileSync(file(`${name}.${kind}`), join(data, `server.${kind}`));
  chmodSync(join(data, "server.key"), 0o600);
}

const urlOf = (parameters: string, { host = "localhost", user = "postgres" } = {}) =>
  `postgres://${user}@${host}:${port}/postgres?${parameters}`;
const open = (url: string) => inspectPostgresStore({ url, timeout: 5_000 });

describe.skipIf(!hasOpenssl || postgresBinaries() === undefined)("a TLS connection to PostgreSQL", () => {
  beforeAll(async () => {
    folder = await temporaryFolder();
    createAuthority("ca");
    createAuthority("other");
    createCertificate("good", "localhost");
    createCertificate("expired", "localhost", { days: -1 });
    createCertificate("client", "certified");
    createCertificate("stranger", "certified", { authority: "other" });
    port = await findPort();
    const settings = {
      ...{ port: String(port), listen_addresses: "'127.0.0.1'", ssl: "on" },
      ...{ ssl_cert_file: "'server.pem'", ssl_key_file: "'server.key'", ssl_ca_file: "'ca.pem'" },
    };
    cluster = await startPostgresCluster({
      settings,
      prepare: async (created) => {
        data = created;
        copyFileSync(file("ca.pem"), join(data, "ca.pem"));
        installCertificate("good");
        const rules = ["hostssl all certified 127.0.0.1/32 cert", "hostssl all all 127.0.0.1/32 trust"];
        const path = join(data, "pg_hba.conf");
        writeFileSync(path, `${readFileSync(path, "utf8")}${rules.join("\n")}\n`);
        await Promise.resolve();
      },
    });
    const client = new pg.Client({ connectionString: cluster.url });
    await client.connect();
    await client.query("create role certified login superuser");
    await client.end();
  });
  afterAll(async () => {
    await cluster.stop();
    await folder[Symbol.asyncDispose]();
  });

  it.each([
    ["verify-full with the authority", () => `sslmode=verify-full&sslrootcert=${file("ca.pem")}`, "localhost"],
    ["verify-ca and another host name", () => `sslmode=verify-ca&sslrootcert=${file("ca.pem")}`, "127.0.0.1"],
    ["require without an authority", () => "sslmode=require", "127.0.0.1"],
    ["prefer", () => "sslmode=prefer", "127.0.0.1"],
  ])("works with %s", async (_, parameters, host) => {
    expect(await open(urlOf(parameters(), { host }))).toMatchObject({ version: 0 });
  });

  it.each([
    [
      "an unknown authority",
      () => "sslmode=verify-full",
      "localhost",
      /is signed by an authority that is not known here: .*sslrootcert/,
    ],
    [
      "another authority",
      () => `sslmode=verify-ca&sslrootcert=${file("other.pem")}`,
      "localhost",
      /authority that is not known/,
    ],
    [
      "another host name",
      () => `sslmode=verify-full&sslrootcert=${file("ca.pem")}`,
      "127.0.0.1",
      /is for another host name: /,
    ],
    [
      "an authority file without a certificate",
      () => `sslmode=verify-ca&sslrootcert=${file("names")}`,
      "localhost",
      /sslrootcert that has no certificate in PEM format/,
    ],
    [
      "a key of another certificate",
      () => `sslmode=require&sslcert=${file("client.pem")}&sslkey=${file("good.key")}`,
      "localhost",
      /sslcert and sslkey do not belong together/,
    ],
    ["no TLS", () => "sslmode=disable", "localhost", /rejected the user or the password|no pg_hba.conf entry/],
  ])("is refused with %s, and says why", async (_, parameters, host, message) => {
    await expect(open(urlOf(parameters(), { host }))).rejects.toMatchObject({
      code: expect.stringMatching(/^(store_unavailable|config_invalid)$/) as string,
      message: expect.stringMatching(message) as string,
    });
  });

  it("is refused if the certificate has expired", async () => {
    await useCertificate("expired");
    const url = urlOf(`sslmode=verify-full&sslrootcert=${file("ca.pem")}`);
    await expect(open(url)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/has expired: renew it/) as string,
    });
    await useCertificate("good");
    expect(await open(url)).toMatchObject({ version: 0 });
  });

  it("identifies the user with a client certificate", async () => {
    const base = `sslmode=verify-full&sslrootcert=${file("ca.pem")}`;
    const withClient = (name: string) => `${base}&sslcert=${file(`${name}.pem`)}&sslkey=${file(`${name}.key`)}`;
    const user = "certified";
    expect(await open(urlOf(withClient("client"), { user }))).toMatchObject({ version: 0 });
    await expect(open(urlOf(base, { user }))).rejects.toThrow(/asks for a client certificate: set sslcert and sslkey/);
    await expect(open(urlOf(withClient("stranger"), { user }))).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("fails with a server without TLS if the mode requires TLS", async () => {
    await using plain = await startPlainServer();
    const url = `postgres://postgres@127.0.0.1:${plain.port}/postgres?sslmode=require`;
    await expect(open(url)).rejects.toThrow(/has no TLS: enable it on the server, or set sslmode=disable/);
  });
});

/** Answers "no" to a request for TLS. */
async function startPlainServer() {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write("N"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, "close");
    },
  };
}

async function findPort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return free;
}
