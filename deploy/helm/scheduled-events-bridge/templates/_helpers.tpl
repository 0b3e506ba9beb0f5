{{/* Values → names, labels, and what the configuration asks for. */}}

{{- define "bridge.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "bridge.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bridge.labels" -}}
{{ include "bridge.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "bridge.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "bridge.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "bridge.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "bridge.healthHost" -}}
{{- default (ternary "0.0.0.0" "127.0.0.1" .Values.serviceMonitor.enabled) .Values.health.host -}}
{{- end -}}

{{/* The kubelet is on the node, so it reaches the node's loopback too; without a host it asks the node's address. */}}
{{- define "bridge.probeHost" -}}
{{- $host := include "bridge.healthHost" . -}}
{{- if ne $host "0.0.0.0" }}, host: {{ $host }}{{ end -}}
{{- end -}}

{{/* The image's user. */}}
{{- define "bridge.user" -}}
65532
{{- end -}}

{{- define "bridge.config" -}}
{{- $set := dict "store" (dict "path" "/var/lib/scheduled-events-bridge") "http" (dict "health" (printf "%s:%v" (include "bridge.healthHost" .) .Values.health.port)) -}}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) $set) -}}
{{- end -}}

{{/* Those of the values, and the one for the taint that the bridge sets itself: without it a bridge that ended could not come back to undo it. */}}
{{- define "bridge.tolerations" -}}
{{- $own := dict "key" "scheduled-events-bridge.github.io/maintenance" "operator" "Exists" "effect" "NoSchedule" -}}
{{- $has := false -}}
{{- range .Values.tolerations -}}
{{- if and (eq (default "Equal" .operator) "Exists") (not .key) (not .effect) -}}{{- $has = true -}}{{- end -}}
{{- end -}}
{{- $needs := and (not $has) (has "taint" (include "bridge.prepare" . | fromJsonArray)) -}}
{{- toJson (ternary (append (default list .Values.tolerations) $own) (default list .Values.tolerations) $needs) -}}
{{- end -}}

{{/* What sinks of type kubernetes do to Nodes, each once, as a JSON list: empty without such a sink. */}}
{{- define "bridge.prepare" -}}
{{- $prepare := list -}}
{{- range .Values.config.sinks -}}
{{- if eq .type "kubernetes" -}}
{{- $prepare = concat $prepare (default (list "event" "condition" "taint" "cordon" "drain") .prepare) -}}
{{- if .excludeFromLoadBalancers -}}
{{- $prepare = append $prepare "excludeFromLoadBalancers" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $prepare | uniq | toJson -}}
{{- end -}}
