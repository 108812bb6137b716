import { canonicalJson } from "@oaas/kube-core";
import type { PodTemplate } from "../objects/typed.ts";

/** Characters that form no words, as in generated names of Kubernetes. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** FNV-1a of 32 bits. The real controllers hash a dump of Go structures, so the values differ, but not their form. */
export function templateHash(template: PodTemplate, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const code of `${canonicalJson(template)}${collisions === 0 ? "" : collisions}`) {
    hash ^= code.codePointAt(0) ?? 0;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return safeText(String(hash));
}

/** A number's digits as letters, as the real controllers write hashes in names. */
function safeText(digits: string): string {
  return digits.replaceAll(/\d/g, (digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length] ?? "");
}
