import { expect, test } from "vitest";
import { resolveImage, imagePullPolicy } from "./images.ts";

const mirrors = [
  { from: "ghcr.io/", to: "registry.local/" },
  { from: "ghcr.io/special", to: "other.local/special" },
];

test.each([
  { why: "unchanged without a mirror", image: "ghcr.io/a/b:1", images: undefined, want: "ghcr.io/a/b:1" },
  { why: "a mirror replaces its prefix", image: "ghcr.io/a/b:1", images: { mirrors }, want: "registry.local/a/b:1" },
  {
    why: "the longest prefix wins",
    image: "ghcr.io/special/b:1",
    images: { mirrors },
    want: "other.local/special/b:1",
  },
  {
    why: "a prefix matches whole parts only",
    image: "ghcr.io/specialist/b:1",
    images: { mirrors },
    want: "registry.local/specialist/b:1",
  },
  {
    why: "checks the mirrored image against allowed registries",
    image: "ghcr.io/a/b",
    images: { mirrors, allowed_registries: ["registry.local"] },
    want: "registry.local/a/b",
  },
])("$why", ({ image, images, want }) => {
  expect(resolveImage(image, images)).toEqual({ ok: true, value: want });
});

test.each([
  { image: "evil.local/a", allowed: ["registry.local/"], why: "another registry" },
  { image: "registry.local.evil/a", allowed: ["registry.local"], why: "a host with the same prefix" },
  { image: "registry.local/acme-evil/a", allowed: ["registry.local/acme"], why: "a project with the same prefix" },
  { image: "registry.local/a", allowed: [], why: "an empty list allows none" },
])("rejects: $why", ({ image, allowed }) => {
  expect(resolveImage(image, { allowed_registries: allowed })).toMatchObject({ ok: false });
});

test.each([
  { image: "a", want: "Always" },
  { image: "host:5000/a", want: "Always" },
  { image: "host:5000/a:latest", want: "Always" },
  { image: "host:5000/a:1", want: "IfNotPresent" },
  { image: "a@sha256:00", want: "IfNotPresent" },
  { image: "a:latest@sha256:00", want: "Always" },
  { image: "a:latest", stated: "Never", want: "Never" },
])("$image is pulled $want", ({ image, stated, want }) => {
  expect(imagePullPolicy(image, stated)).toBe(want);
});
