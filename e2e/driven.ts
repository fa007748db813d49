/** Our client on a real agent, directly or through whatever stands between. */
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
  /** Permissions that the agent asked for. */
  readonly asked: schema.RequestPermissionRequest[];
  /** Another process of the same agent, in the same home. */
  again(): Promise<Client>;
}

export interface DriveOptions {
  /** Given: a proxy of ours stands between. */
  readonly proxy?: ((scene: Scene) => ProxyOptions) | undefined;
  /** How permissions are answered; those that are allowed once if not said. */
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
  if (option === undefined) throw new Error(`no option allows it: ${JSON.stringify(options)}`);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}

/** Waits for what comes by itself; the suite's own patience, not a promise of the agent's. */
export async function until(what: string, done: () => boolean, ms = 10_000): Promise<void> {
  for (let waited = 0; !done(); waited += 100) {
    if (waited > ms) throw new Error(`this never came: ${what}`);
    await sleep(100);
  }
}
