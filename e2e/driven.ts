/** Connects our client to a real agent, directly or through a proxy. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  connectClient,
  openProxy,
  startAgent,
  transportPair,
  type Client,
  type ClientOptions,
  type ProxyOptions,
  type schema,
} from "../src/acp/index.ts";
import { DisposeStack } from "../src/stdx/index.ts";
import type { AgentRecipe } from "./agents/index.mjs";
import { openScene, type Scene } from "./scene.mjs";

export interface Driven extends AsyncDisposable {
  readonly scene: Scene;
  readonly client: Client;
  /** The permission requests of the agent. */
  readonly asked: schema.RequestPermissionRequest[];
  /** Starts another process of the same agent in the same home. */
  again(): Promise<Client>;
}

export interface DriveOptions {
  /** Connects through this proxy. */
  readonly proxy?: ((scene: Scene) => ProxyOptions) | undefined;
  /** Answers permission requests. Default: allows once. */
  readonly permission?:
    ((request: schema.RequestPermissionRequest) => Promise<schema.RequestPermissionResponse>) | undefined;
}

export async function drive(recipe: AgentRecipe, { proxy, permission }: DriveOptions = {}): Promise<Driven> {
  await using opening = new DisposeStack();
  const scene = opening.use(await openScene(recipe));
  const asked: schema.RequestPermissionRequest[] = [];
  const options: Partial<ClientOptions> = {
    peer: recipe.name,
    serve: {
      permission: (request) => {
        asked.push(request);
        return permission === undefined ? allowed(request) : permission(request);
      },
    },
  };
  const start = async (owned: DisposeStack): Promise<Client> => {
    const agent = owned.use(await startAgent({ command: scene.launch.command, env: scene.launch.env, cwd: scene.cwd }));
    const exit = () => agent.exit();
    if (proxy === undefined) return owned.use(await connectClient({ transport: agent.transport, exit, ...options }));
    const [near, far] = transportPair();
    owned.use(openProxy({ transport: far }, { transport: agent.transport, exit }, proxy(scene)));
    return owned.use(await connectClient({ transport: near, ...options }));
  };
  const client = await start(opening);
  const owned = opening.move();
  return {
    scene,
    client,
    asked,
    again: () => start(owned),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

export function allowed({ options }: schema.RequestPermissionRequest): schema.RequestPermissionResponse {
  const option =
    options.find(({ kind }) => kind === "allow_once") ?? options.find(({ kind }) => kind === "allow_always");
  if (option === undefined)
    throw new Error(`the request has no option that allows it once: ${JSON.stringify(options)}`);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}

/** Waits for a condition. The timeout belongs to the suite; the agent promises none. */
export async function until(what: string, done: () => boolean, ms = 10_000): Promise<void> {
  for (let waited = 0; !done(); waited += 100) {
    if (waited > ms) throw new Error(`timed out waiting for ${what}`);
    await sleep(100);
  }
}
