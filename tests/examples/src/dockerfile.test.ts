import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { copyFiles, readDockerfile } from "./dockerfile.ts";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-dockerfile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TEXT = `# a comment
FROM node:24-slim
WORKDIR /service
COPY *.mjs settings.json ./
ENV PORT=8080 WORDS=a=b
USER node
EXPOSE 8080 9090
CMD ["node", "main.mjs"]
`;

describe("Dockerfile without a container engine", () => {
  test("is parsed", () => {
    expect(readDockerfile(TEXT)).toEqual({
      base: "node:24-slim",
      user: "node",
      workingFolder: "/service",
      environment: { PORT: "8080", WORDS: "a=b" },
      ports: [8080, 9090],
      command: ["node", "main.mjs"],
      copies: [{ from: ["*.mjs", "settings.json"], to: "/service" }],
    });
  });

  test.each(["RUN npm ci", "COPY --chown=node a b", "ENV A=1 \\"])("rejects %s", (line) => {
    expect(() => readDockerfile(`FROM scratch\n${line}`)).toThrow(`line 2 is not supported: ${line}`);
  });

  test("copies exactly the listed files and rejects a missing one", () => {
    for (const name of ["main.mjs", "settings.json", "other.txt"]) writeFileSync(path.join(folder, name), "");
    const root = path.join(folder, "root");
    expect(readdirSync(copyFiles(readDockerfile(TEXT), folder, root)).toSorted()).toEqual([
      "main.mjs",
      "settings.json",
    ]);
    const wrong = readDockerfile(TEXT.replace("settings.json", "absent.json"));
    expect(() => copyFiles(wrong, folder, root)).toThrow("COPY absent.json: no such file");
  });
});
