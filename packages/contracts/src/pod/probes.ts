import { HEADER_NAME } from "@oaas/models";
import { z } from "zod";
import { exactlyOneOf, withRules, type Rule } from "../crd/rule.ts";
import { ruledText, wholeNumber } from "./text.ts";

/** The name of the function's port. */
const PORT_NAME = "http";

const port = z.union([
  wholeNumber(1, 65_535),
  z
    .string()
    .max(15)
    .regex(/^http$/),
]);
const portField = port.optional().describe(`Port, or \`${PORT_NAME}\` for the function's port. Default: that port.`);

const HANDLERS = ["httpGet", "grpc", "exec", "tcpSocket"] as const;

const probeFields = z.object({
  httpGet: z
    .object({
      path: z.string().max(1024).regex(/^\//).optional().describe("Request path. Default: /."),
      port: portField,
      scheme: z.enum(["HTTP", "HTTPS"]).optional().describe("Default: HTTP."),
      httpHeaders: z
        .array(
          z.object({
            name: ruledText(HEADER_NAME).describe("Header name."),
            value: z.string().max(4096).describe("Header value."),
          }),
        )
        .max(16)
        .optional()
        .describe("Headers of the request."),
    })
    .optional()
    .describe("Successful when the response has a status from 200 to 399."),
  grpc: z
    .object({
      port: wholeNumber(1, 65_535).optional().describe("Port. Default: the function's port."),
      service: z.string().max(253).optional().describe("Service of the health check request."),
    })
    .optional()
    .describe("Successful when the gRPC health service answers SERVING."),
  exec: z
    .object({ command: z.array(z.string().max(4096)).min(1).max(64).describe("Command, without a shell.") })
    .optional()
    .describe("Successful when the command exits with 0."),
  tcpSocket: z.object({ port: portField }).optional().describe("Successful when the port accepts a connection."),
  initialDelaySeconds: wholeNumber(0).optional().describe("Delay before the first probe. Default: 0."),
  periodSeconds: wholeNumber(1).optional().describe("Interval between probes. Default: 10."),
  timeoutSeconds: wholeNumber(1).optional().describe("Timeout of a probe. Default: 1."),
  successThreshold: wholeNumber(1).optional().describe("Consecutive successes to count as successful. Default: 1."),
  failureThreshold: wholeNumber(1).optional().describe("Consecutive failures to count as failed. Default: 3."),
});

const oneHandler = exactlyOneOf("a probe", HANDLERS);

const singleSuccess: Rule<z.output<typeof probeFields>> = {
  cel: "!has(self.successThreshold) || self.successThreshold == 1",
  message: "successThreshold of this probe must be 1",
  at: "successThreshold",
  fix: "use 1, or set it in readinessProbe",
  holds: ({ successThreshold }) => successThreshold === undefined || successThreshold === 1,
};

/** Readiness. */
export const probe = withRules(probeFields, oneHandler);

/** Startup and liveness, for which Kubernetes allows one success only. */
export const restartingProbe = withRules(probeFields, oneHandler, singleSuccess);
