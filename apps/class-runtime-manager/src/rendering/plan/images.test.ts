import { expect, test } from "vitest";
import { resolveImage, imagePullPolicy } from "./images.ts";

const SHA = `sha256:${"0".repeat(64)}`;
const mirrors = [
  { from: "ghcr.io/", to: "registry.local/" },
  { from: "ghcr.io/special", to: "other.local/special" },
];

test.each([
  { case: "unchanged without a mirror", image: "ghcr.io/a/b:1", images: undefined, want: "ghcr.io/a/b:1" },
  { case: "a mirror replaces its prefix", image: "ghcr.io/a/b:1", images: { mirrors }, want: "registry.local/a/b:1" },
  {
    case: "the longest prefix wins",
    image: "ghcr.io/special/b:1",
    images: { mirrors },
    want: "other.local/special/b:1",
  },
  {
    case: "a prefix matches whole parts only",
    image: "ghcr.io/specialist/b:1",
    images: { mirrors },
    want: "registry.local/specialist/b:1",
  },
  {
    case: "checks the mirrored image against allowed registries",
    image: "ghcr.io/a/b",
    images: { mirrors, allowed_registries: ["registry.local"] },
    want: "registry.local/a/b",
  },
])("$case", ({ image, images, want }) => {
  expect(resolveImage(image, images)).toEqual({ ok: true, value: want });
});

test.each([
  { image: "evil.local/a", allowed: ["registry.local/"], case: "another registry" },
  { image: "registry.local.evil/a", allowed: ["registry.local"], case: "a host with the same prefix" },
  { image: "registry.local/acme-evil/a", allowed: ["registry.local/acme"], case: "a project with the same prefix" },
  { image: "registry.local/a", allowed: [], case: "an empty list allows none" },
  { image: `registry.local@${SHA}`, allowed: ["registry.local"], case: "a Docker Hub image named like the host" },
  {
    image: "registry.local:1",
    allowed: ["registry.local"],
    case: "a Docker Hub image named like the host, with a tag",
  },
  { image: "registry.local", allowed: ["registry.local"], case: "a Docker Hub image named exactly like the host" },
  { image: "registry.local:5000/a", allowed: ["registry.local"], case: "another port of the host" },
  { image: "registry.local/a", allowed: ["registry.local:5000"], case: "the host without the allowed port" },
  { image: "registry.local:50001/a", allowed: ["registry.local:5000"], case: "a longer port" },
  { image: "registry.local@evil.test/a", allowed: ["registry.local"], case: "the host as a user name" },
  { image: "registry.local.:5000/a", allowed: ["registry.local"], case: "a host with a trailing dot" },
  { image: "registry.local/acme/../evil/a", allowed: ["registry.local/acme"], case: "a path that leaves the project" },
  { image: "registry.local//a", allowed: ["registry.local"], case: "an empty path component" },
  { image: "registry.local/A", allowed: ["registry.local"], case: "an upper-case repository" },
  { image: "acme/a", allowed: ["registry.local/acme"], case: "the project on Docker Hub" },
  { image: "a", allowed: ["registry.local"], case: "Docker Hub" },
  { image: "a", allowed: ["docker.io/acme"], case: "an official image of Docker Hub" },
  { image: "library.evil/a", allowed: ["library"], case: "a host that starts like a project of Docker Hub" },
  { image: "Library/a", allowed: ["library"], case: "upper case makes the first component a host" },
  { image: "docker.io.evil.test/library/a", allowed: ["docker.io"], case: "a host that starts with docker.io" },
  { image: "registry.local/a b", allowed: ["registry.local"], case: "not a reference" },
  { image: " registry.local/a", allowed: ["registry.local"], case: "a leading space" },
  { image: "registry.local/a\n", allowed: ["registry.local"], case: "a trailing line feed" },
  { image: "r\u0435gistry.local/a", allowed: ["registry.local"], case: "a look-alike letter" },
  { image: "registry.local/a", allowed: ["https://registry.local"], case: "an allowed registry with a scheme" },
  { image: "registry.local/a:2", allowed: ["registry.local/a:1"], case: "an allowed registry with a tag" },
])("rejects: $case", ({ image, allowed }) => {
  expect(resolveImage(image, { allowed_registries: allowed })).toMatchObject({ ok: false });
});

test.each([
  { image: "registry.local/a", allowed: ["registry.local"], case: "an image of the host" },
  { image: "registry.local/a/b/c:1", allowed: ["registry.local/a/"], case: "an image under the project" },
  { image: `registry.local/a@${SHA}`, allowed: ["registry.local/a"], case: "the repository itself by digest" },
  { image: `registry.local/a:1@${SHA}`, allowed: ["registry.local/a"], case: "the repository by tag and digest" },
  { image: "registry.local:5000/a:1", allowed: ["registry.local:5000"], case: "the allowed port" },
  { image: "Registry.LOCAL/a", allowed: ["registry.local"], case: "the host in upper case" },
  { image: "registry.local/a", allowed: ["REGISTRY.local"], case: "the allowed host in upper case" },
  { image: "[::1]:5000/a", allowed: ["[::1]:5000"], case: "an IPv6 host" },
  { image: "localhost/a", allowed: ["localhost"], case: "localhost" },
  { image: "a:1", allowed: ["docker.io"], want: "docker.io/library/a:1", case: "no registry means Docker Hub" },
  { image: `a@${SHA}`, allowed: ["docker.io/library"], want: `docker.io/library/a@${SHA}`, case: "an official image" },
  { image: "acme/a", allowed: ["acme"], want: "docker.io/acme/a", case: "a project of Docker Hub" },
  { image: "docker.io/a", allowed: ["docker.io/library/a"], case: "an official image without library" },
  { image: "index.docker.io/acme/a", allowed: ["docker.io"], case: "the other host of Docker Hub" },
])("allows: $case", ({ image, allowed, want }) => {
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
