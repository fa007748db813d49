/** WebAssembly as values: the types of Node 20 know its types alone. */

interface Wasm {
  /** Beside the event loop. */
  compile(bytes: Uint8Array): Promise<WebAssembly.Module>;
  Memory: new (pages: { readonly initial: number; readonly maximum: number }) => {
    readonly buffer: ArrayBuffer;
  };
}

export const wasm = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
export type Memory = InstanceType<Wasm["Memory"]>;
export const PAGE_BYTES = 65_536;
