export { checkPackage } from "@oaas/models";
