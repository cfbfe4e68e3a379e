/** UTF-8 to text and back. Coders are made at their first use, because loading the library touches no global of a runtime. */

let decoder: TextDecoder | undefined;
let encoder: TextEncoder | undefined;

export const decodeUtf8 = (bytes: Uint8Array): string => {
  decoder ??= new TextDecoder();
  return decoder.decode(bytes);
};

export const encodeUtf8 = (text: string): Uint8Array<ArrayBuffer> => {
  encoder ??= new TextEncoder();
  return encoder.encode(text);
};
