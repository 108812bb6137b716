{{- /* Labels of an object: the chart's context and the name of the program. */}}
{{- define "oaas-data-plane.labels" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ $.Release.Name }}
app.kubernetes.io/version: {{ $.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $.Release.Service }}
app.kubernetes.io/part-of: oaas
helm.sh/chart: {{ printf "%s-%s" $.Chart.Name $.Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* The image of `router` or `gateway`; fails without a name. */}}
{{- define "oaas-data-plane.image" -}}
{{- $name := index . 1 }}
{{- with (index (index . 0).Values $name).image }}
{{- if not (and .repository (or .tag .digest)) }}
{{- fail (printf "%s.image has no default: set %s.image.repository, and tag or digest. Classes with state need three images that OaaS does not contain: router (router.image), gateway (gateway.image), and state store (OPRC_CRM_TEMPLATES_ODGM_IMAGE of the class runtime manager)" $name $name) }}
{{- else -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Where and how the pods of a workload run: its values and the name of the program. */}}
{{- define "oaas-data-plane.podFields" -}}
{{- $values := index . 0 -}}
enableServiceLinks: false
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- if $values.topologySpreadConstraints }}
  {{- toYaml $values.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        app.kubernetes.io/name: {{ index . 1 }}
  {{- end }}
{{- end }}

{{- define "oaas-data-plane.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* The other routers of this cluster, by the stable names of their pods. */}}
{{- define "oaas-data-plane.fellows" -}}
{{- $fellows := list }}
{{- range $index := until (int .Values.router.replicas) }}
{{- $fellows = append $fellows (printf "tcp/oprc-router-%d.oprc-router-pods:17447" $index) }}
{{- end }}
{{- if gt (len $fellows) 1 }}{{ join "," $fellows }}{{ end }}
{{- end }}

{{- /* Fails unless every address of another cluster fits to TLS. */}}
{{- define "oaas-data-plane.checkPeers" -}}
{{- $tls := .Values.router.tls.secretName }}
{{- range .Values.router.peers }}
{{- if and $tls (not (hasPrefix "tls/" .)) }}
{{- fail (printf "router.peers contains %s, but router.tls.secretName is set: write tls/ instead of tcp/" .) }}
{{- else if and (not $tls) (hasPrefix "tls/" .) }}
{{- fail (printf "router.peers contains %s, but router.tls.secretName is empty: name the Secret, or write tcp/ in a private network" .) }}
{{- end }}
{{- end }}
{{- with .Values.router.external }}
{{- if and .enabled (not $tls) (not .from) }}
{{- fail "router.external.from is empty and router.tls is off: any client that reaches a router can read and write every object. Set router.tls.secretName, or name the admitted peers" }}
{{- end }}
{{- end }}
{{- end }}
