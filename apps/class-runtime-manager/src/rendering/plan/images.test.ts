import { expect, test } from "vitest";
import { resolveImage, imagePullPolicy } from "./images.ts";

const SHA = `sha256:${"0".repeat(64)}`;
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
  { image: `registry.local@${SHA}`, allowed: ["registry.local"], why: "a Docker Hub image named like the host" },
  { image: "registry.local:1", allowed: ["registry.local"], why: "a Docker Hub image named like the host, with a tag" },
  { image: "registry.local", allowed: ["registry.local"], why: "a Docker Hub image named exactly like the host" },
  { image: "registry.local:5000/a", allowed: ["registry.local"], why: "another port of the host" },
  { image: "registry.local/a", allowed: ["registry.local:5000"], why: "the host without the allowed port" },
  { image: "registry.local:50001/a", allowed: ["registry.local:5000"], why: "a longer port" },
  { image: "registry.local@evil.test/a", allowed: ["registry.local"], why: "the host as a user name" },
  { image: "registry.local.:5000/a", allowed: ["registry.local"], why: "a host with a trailing dot" },
  { image: "registry.local/acme/../evil/a", allowed: ["registry.local/acme"], why: "a path that leaves the project" },
  { image: "registry.local//a", allowed: ["registry.local"], why: "an empty path component" },
  { image: "registry.local/A", allowed: ["registry.local"], why: "an upper-case repository" },
  { image: "acme/a", allowed: ["registry.local/acme"], why: "the project on Docker Hub" },
  { image: "a", allowed: ["registry.local"], why: "Docker Hub" },
  { image: "a", allowed: ["docker.io/acme"], why: "an official image of Docker Hub" },
  { image: "library.evil/a", allowed: ["library"], why: "a host that starts like a project of Docker Hub" },
  { image: "Library/a", allowed: ["library"], why: "upper case makes the first component a host" },
  { image: "docker.io.evil.test/library/a", allowed: ["docker.io"], why: "a host that starts with docker.io" },
  { image: "registry.local/a b", allowed: ["registry.local"], why: "not a reference" },
  { image: " registry.local/a", allowed: ["registry.local"], why: "a leading space" },
  { image: "registry.local/a\n", allowed: ["registry.local"], why: "a trailing line feed" },
  { image: "r\u0435gistry.local/a", allowed: ["registry.local"], why: "a look-alike letter" },
  { image: "registry.local/a", allowed: ["https://registry.local"], why: "an allowed registry that is no prefix" },
  { image: "registry.local/a:2", allowed: ["registry.local/a:1"], why: "an allowed registry with a tag" },
])("rejects: $why", ({ image, allowed }) => {
  expect(resolveImage(image, { allowed_registries: allowed })).toMatchObject({ ok: false });
});

test.each([
  { image: "registry.local/a", allowed: ["registry.local"], why: "an image of the host" },
  { image: "registry.local/a/b/c:1", allowed: ["registry.local/a/"], why: "an image under the project" },
  { image: `registry.local/a@${SHA}`, allowed: ["registry.local/a"], why: "the repository itself by digest" },
  { image: `registry.local/a:1@${SHA}`, allowed: ["registry.local/a"], why: "the repository by tag and digest" },
  { image: "registry.local:5000/a:1", allowed: ["registry.local:5000"], why: "the allowed port" },
  { image: "Registry.LOCAL/a", allowed: ["registry.local"], why: "the host in upper case" },
  { image: "registry.local/a", allowed: ["REGISTRY.local"], why: "the allowed host in upper case" },
  { image: "[::1]:5000/a", allowed: ["[::1]:5000"], why: "an IPv6 host" },
  { image: "localhost/a", allowed: ["localhost"], why: "localhost" },
  { image: "a:1", allowed: ["docker.io"], want: "docker.io/library/a:1", why: "no registry means Docker Hub" },
  { image: `a@${SHA}`, allowed: ["docker.io/library"], want: `docker.io/library/a@${SHA}`, why: "an official image" },
  { image: "acme/a", allowed: ["acme"], want: "docker.io/acme/a", why: "a project of Docker Hub" },
  { image: "docker.io/a", allowed: ["docker.io/library/a"], why: "an official image without library" },
  { image: "index.docker.io/acme/a", allowed: ["docker.io"], why: "the other host of Docker Hub" },
])("allows: $why", ({ image, allowed, want }) => {
  expect(resolveImage(image, { allowed_registries: allowed })).toEqual({ ok: true, value: want ?? image });
});

test.each([
  { image: "nginx:1", from: "docker.io", to: "mirror.test/hub", want: "mirror.test/hub/library/nginx:1" },
  { image: "ghcr.io/a:1", from: "ghcr.io", to: "mirror.test/", want: "mirror.test/a:1" },
  { image: "ghcr.io:5000/a:1", from: "ghcr.io", to: "mirror.test", want: "ghcr.io:5000/a:1" },
  { image: `ghcr.io/a@${SHA}`, from: "ghcr.io/a", to: "mirror.test/b", want: `mirror.test/b@${SHA}` },
])("mirrors $image from $from", ({ image, from, to, want }) => {
  expect(resolveImage(image, { mirrors: [{ from, to }] })).toEqual({ ok: true, value: want });
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
