/** WebAssembly as a value: the type definitions for Node 20 declare only its types. */

interface Wasm {
  /** Compiles off the main thread. */
  compile(bytes: Uint8Array): Promise<WebAssembly.Module>;
  Memory: new (pages: { readonly initial: number; readonly maximum: number }) => {
    readonly buffer: ArrayBuffer;
  };
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
export type WasmMemory = InstanceType<Wasm["Memory"]>;
export const WASM_PAGE_BYTES = 65_536;
