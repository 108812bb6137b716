-- Health of ClassRuntime, DeploymentRecord, DeploymentTemplate and EnvironmentConfig for Argo CD (Lua 5.1).
-- The conditions follow the rules of kstatus: Stalled and Reconciling exist only while they are True.
local health = { status = "Progressing", message = "Waiting for the class runtime manager" }

if obj.metadata.deletionTimestamp ~= nil then
  health.message = "Being deleted"
  return health
end
if obj.status == nil or obj.status.conditions == nil then
  return health
end
if obj.status.observedGeneration ~= nil and obj.status.observedGeneration ~= obj.metadata.generation then
  health.message = "Waiting for the class runtime manager to read the new spec"
  return health
end

local found = {}
for _, condition in ipairs(obj.status.conditions) do
  found[condition.type] = condition
end

local function is(type, status)
  return found[type] ~= nil and found[type].status == status
end

if is("Stalled", "True") then
  health.status = "Degraded"
  health.message = found["Stalled"].message
elseif is("Reconciling", "True") then
  health.message = found["Reconciling"].message
elseif is("Ready", "True") then
  health.status = "Healthy"
  health.message = found["Ready"].message
elseif is("Ready", "False") then
  health.status = "Degraded"
  health.message = found["Ready"].message
end
return health
