// Prints facts about the built-in kinds that their OpenAPI document lacks: which fields keep an explicit zero (pointers), which
// are written as null when absent, which structs are omitted when empty, and the Go names of string types. The output is JSON:
// marks by type and field ("keep", "null", "drop", "omit" for scalars omitted when zero, "value" for a struct with its own
// encoding, such as a time), and names by type and field. Run by `npm run kindgen`; needs Go.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var marshaler = reflect.TypeFor[json.Marshaler]()

type table map[string]map[string]string

func (t table) set(name, field, value string) {
	if value == "" {
		return
	}
	if t[name] == nil {
		t[name] = map[string]string{}
	}
	t[name][field] = value
}

type visitor struct {
	Marks table `json:"marks"`
	Names table `json:"names"`
	seen  map[reflect.Type]bool
}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistration.AddToScheme, apps.AddToScheme, authentication.AddToScheme, authorization.AddToScheme,
		autoscalingv1.AddToScheme, autoscaling.AddToScheme, batch.AddToScheme, coordination.AddToScheme, core.AddToScheme,
		discovery.AddToScheme, events.AddToScheme, networking.AddToScheme, policy.AddToScheme, rbac.AddToScheme,
		scheduling.AddToScheme, storage.AddToScheme, apiextensions.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	v := visitor{Marks: table{}, Names: table{}, seen: map[reflect.Type]bool{}}
	for gvk, t := range scheme.AllKnownTypes() {
		if gvk.Version != runtime.APIVersionInternal {
			v.visit(t)
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
}

func (v visitor) visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		v.visit(t.Elem())
	case reflect.Struct:
		// A type with its own encoding (a time, a quantity) has no JSON fields.
		if v.seen[t] || writesItself(t) {
			return
		}
		v.seen[t] = true
		v.visitFields(t, openAPIName(t))
	}
}

func (v visitor) visitFields(t reflect.Type, owner string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" {
			continue
		}
		if field.Anonymous && name == "" {
			v.visitFields(field.Type, owner)
			continue
		}
		v.Marks.set(owner, name, markOf(field.Type, options))
		v.Names.set(owner, name, nameOf(field.Type))
		v.visit(field.Type)
	}
}

func nameOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() == reflect.String && t.PkgPath() != "" {
		return t.String()
	}
	return ""
}

func writesItself(t reflect.Type) bool {
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

func markOf(t reflect.Type, options string) string {
	isLeftOut := strings.Contains(options, "omitempty")
	if isLeftOut && isScalar(t) {
		return "omit"
	}
	switch t.Kind() {
	case reflect.Pointer:
		if isScalar(t.Elem()) && isLeftOut {
			return "keep"
		}
		if !isLeftOut {
			return "null"
		}
	case reflect.Slice, reflect.Map:
		if !isLeftOut {
			return "null"
		}
	case reflect.Struct:
		if strings.Contains(options, "omitzero") {
			return "drop"
		}
		if writesItself(t) {
			return "value"
		}
	}
	return ""
}

func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// k8s.io/api/core/v1.Pod is io.k8s.api.core.v1.Pod.
func openAPIName(t reflect.Type) string {
	domain, path, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(domain, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}
