// Asks Kubernetes' own library what it makes of generated inputs and writes the answers beside this folder.
// The unit tests compare ours with them. Run by hand (`go run .` here) when the library version changes; the seed is
// fixed, so that the same library gives the same files.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const note = "Made by oracle/main.go with k8s.io/apimachinery v0.36.3; not edited by hand."

var dice = rand.New(rand.NewSource(20260401))

func pick[T any](options ...T) T { return options[dice.Intn(len(options))] }

func write(name string, rows any) {
	encoded, err := json.Marshal(map[string]any{"note": note, "rows": rows})
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile("../"+name, append(encoded, '\n'), 0o644); err != nil {
		panic(err)
	}
}

func digits(most int) string {
	var text strings.Builder
	for range 1 + dice.Intn(most) {
		text.WriteByte(byte('0' + dice.Intn(10)))
	}
	return text.String()
}

type quantityRow struct {
	Text      string `json:"text"`
	Canonical string `json:"canonical,omitempty"`
	Value     string `json:"value,omitempty"`
	Milli     string `json:"milli,omitempty"`
	Refused   bool   `json:"refused,omitempty"`
}

// The clean canonical form: String() alone may give back the text it was read from.
func canonical(quantity resource.Quantity) string {
	quantity.Neg()
	quantity.Neg()
	return quantity.String()
}

func quantities() {
	texts := []string{
		"0", "00", "-0", "1", "+1", "-1", "1.5Gi", "1500m", "0.5", "0.1", "0.001", "0.0000000001", "1.5", "1.500", "1.234", "01Ki",
		"1Ki", "1024Ki", "1023Ki", "8Ei", "7Ei", "16Ei", "-8Ei", "0.5Ki", "1.5Ki", "0.0001Ki", "1e3", "1E3", "1E", "1e-3", "12e6", "120e-1",
		"1.G", ".5", "1e-10", "1n", "1.1n", "999999999999n", "1u", "1m", "100m", "0.1m", "1k", "1M", "1G", "1T", "1P", "999E",
		"18446744073709551615", "9223372036854775807", "-9223372036854775808", "1.7976931348623157Gi", "100000000000000000000",
		"1K", "1ki", "1MB", "1 Gi", " 1", "1 ", "1.2.3", "abc", "1e", "1e1.5", "--1", "+-1", "1Gi1", "0x10", "1_000", "1,5", "1ee3", "1mm",
		"1i", "1eE", "1E+2", "1e+2", "1e+", "∞", "NaN", "Infinity",
	}
	for range 420 {
		text := pick("", "", "", "-", "+") + digits(pick(2, 4, 9, 17))
		if dice.Intn(3) == 0 {
			text += "." + digits(pick(2, 4, 11))
		}
		text += pick("", "", "n", "u", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi", "e1", "e2", "e-3", "E6", "e-9", "e-12", "e+3")
		texts = append(texts, text)
	}
	rows := []quantityRow{}
	sums := [][3]string{}
	previous := resource.MustParse("1")
	for _, text := range texts {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			rows = append(rows, quantityRow{Text: text, Refused: true})
			continue
		}
		row := quantityRow{Text: text, Canonical: canonical(quantity)}
		// Value and MilliValue overflow without a word beyond 64 bits, and round amounts below zero now up, now down,
		// by how the text was read; there the library is no oracle.
		if size := quantity.AsApproximateFloat64(); size >= 0 && size < 9e15 {
			row.Value = fmt.Sprint(quantity.Value())
			row.Milli = fmt.Sprint(quantity.MilliValue())
		}
		rows = append(rows, row)
		sum := quantity.DeepCopy()
		sum.Add(previous)
		difference := quantity.DeepCopy()
		difference.Sub(previous)
		sums = append(sums, [3]string{text, canonical(sum), canonical(difference)})
		previous = quantity
	}
	write("quantities.json", map[string]any{"parsed": rows, "sums": sums})
}

type selectorRow struct {
	Text      string `json:"text"`
	Canonical string `json:"canonical"`
	Refused   bool   `json:"refused,omitempty"`
	Matches   []int  `json:"matches,omitempty"`
}

var labelSets = []labels.Set{
	{}, {"a": ""}, {"a": "x"}, {"a": "y", "b": "x"}, {"b": "z"}, {"a": "5"}, {"a": "07", "b": "y"}, {"in": "notin"}, {"example.com/a": "x"},
	{"constructor": "x"}, {"a": "x", "b": "y", "example.com/a": "z"},
}

func labelSelectors() {
	texts := []string{
		"", " ", "a=b,c!=d,e in (x,y),f notin (z),g,!h", "a", "!a", "a=", "a==", "a!=", "a=x", "a==x", "a!=x", "a in ()", "a in (,)", "a in (x,,y)", "a in (y,x,x)",
		"a notin (x)", "a notin ()", "a>4", "a<6", "a>x", "a > 4 , b", "in", "in in (in,notin)", "notin", "!in", "a in x", "a in (x", "a in x)", "a,", ",a", ",", "a,,b",
		"a=x,a=y", "!a=x", "! a", "!!a", "a b", "a=x b", "(a)", "a=(x)", "a==,b", "a=-x", "-a=x", "a/b/c=x", "example.com/a=x", "/a", "a/=x", "Example.com/a",
		"constructor", "constructor=x", "__proto__", "toString", "a\t=\nx", "a=x\x00y", "é=x", "a=é", "a>9223372036854775808", "a>-1", "a>=4", "a<>4", "a===x", "a=!x", "a!x", "a<",
		strings.Repeat("k", 63), strings.Repeat("k", 64), "a=" + strings.Repeat("v", 63), "a=" + strings.Repeat("v", 64),
	}
	key := func() string { return pick("a", "b", "in", "example.com/a", "constructor", "a.b_c-d") }
	value := func() string { return pick("x", "y", "z", "5", "07", "", "notin", "A.b_c-1") }
	for range 160 {
		terms := []string{}
		for range 1 + dice.Intn(4) {
			gap := pick("", "", " ")
			switch dice.Intn(8) {
			case 0:
				terms = append(terms, key())
			case 1:
				terms = append(terms, "!"+gap+key())
			case 2:
				terms = append(terms, key()+gap+pick(">", "<")+gap+pick("4", "6", "0", "07"))
			case 3, 4:
				terms = append(terms, key()+gap+pick("=", "==", "!=")+gap+value())
			default:
				values := []string{}
				for range 1 + dice.Intn(3) {
					values = append(values, value())
				}
				terms = append(terms, key()+" "+pick("in", "notin")+" ("+strings.Join(values, ","+gap)+")")
			}
		}
		text := strings.Join(terms, pick(",", ", "))
		if dice.Intn(6) == 0 {
			at := dice.Intn(len(text) + 1)
			text = text[:at] + pick("=", "!", "(", ")", ",", " ", ">", "-", "/") + text[at:]
		}
		texts = append(texts, text)
	}
	rows := []selectorRow{}
	for _, text := range texts {
		selector, err := labels.Parse(text)
		if err != nil {
			rows = append(rows, selectorRow{Text: text, Refused: true})
			continue
		}
		row := selectorRow{Text: text, Canonical: selector.String()}
		for index, set := range labelSets {
			if selector.Matches(set) {
				row.Matches = append(row.Matches, index)
			}
		}
		rows = append(rows, row)
	}
	fieldTexts := []string{
		"", "metadata.name=x", "metadata.name==x", "metadata.name!=x", "metadata.name=x,metadata.namespace!=y", "metadata.name", "metadata.name=a\\,b", "metadata.name=a\\=b",
		"metadata.name=a\\\\b", "metadata.name=a\\b", "metadata.name=a=b", "metadata.name=x,", ",metadata.name=x", "metadata.name=", "metadata.name=\\", "status.phase=Running,spec.nodeName=",
		"metadata.name = x", "a!=b=c", "metadata.name=a\\,b,spec.nodeName=c",
	}
	fieldRows := []selectorRow{}
	for _, text := range fieldTexts {
		selector, err := fields.ParseSelector(text)
		if err != nil {
			fieldRows = append(fieldRows, selectorRow{Text: text, Refused: true})
			continue
		}
		fieldRows = append(fieldRows, selectorRow{Text: text, Canonical: selector.String()})
	}
	write("selectors.json", map[string]any{"labelSets": labelSets, "labels": rows, "fields": fieldRows})
}

func names() {
	texts := []string{
		"", "a", "A", "1", "a-b", "a.b", "a..b", "-a", "a-", ".a", "a.", "a_b", "a b", "é", "1a", "a1", "a-.b", "a.-b", "example.com/a", "example.com/", "/a", "a/b/c", "Example.com/a",
		"a\n", "constructor", "__proto__", "a/é", "a-b.c_d", "_a", "a_", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254),
		strings.Repeat("a.", 126) + "a", strings.Repeat("a.", 127) + "a", strings.Repeat("a", 253) + "/" + strings.Repeat("b", 63), strings.Repeat("a", 254) + "/b", "a/" + strings.Repeat("b", 64),
	}
	for range 150 {
		var text strings.Builder
		for range dice.Intn(8) {
			text.WriteString(pick("a", "b", "0", "-", ".", "_", "A", "/", "z9", "x"))
		}
		texts = append(texts, text.String())
	}
	rows := [][6]any{}
	for _, text := range texts {
		rows = append(rows, [6]any{
			text, len(validation.IsDNS1123Label(text)) == 0, len(validation.IsDNS1123Subdomain(text)) == 0, len(validation.IsDNS1035Label(text)) == 0,
			len(validation.IsValidLabelValue(text)) == 0, len(validation.IsQualifiedName(text)) == 0,
		})
	}
	write("names.json", rows)
}

func document(depth int, nulls bool) any {
	kind := dice.Intn(8)
	if depth == 0 && kind < 4 {
		kind = 4
	}
	switch {
	case kind < 3:
		members := map[string]any{}
		for range dice.Intn(4) {
			members[pick("a", "b", "c", "a/b", "m~n", "")] = document(depth-1, nulls)
		}
		return members
	case kind == 3:
		items := []any{}
		for range dice.Intn(4) {
			items = append(items, document(depth-1, false))
		}
		return items
	case kind == 4 && nulls:
		return nil
	default:
		return pick[any](1, 2, "x", "y", true, false, 1.5)
	}
}

func object(depth int, nulls bool) map[string]any {
	members := map[string]any{}
	for range 1 + dice.Intn(4) {
		members[pick("a", "b", "c", "a/b", "m~n", "d")] = document(depth, nulls)
	}
	return members
}

func encode(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return encoded
}

// Where the document has something, the document itself left out.
func pointers(value any, at string) []string {
	found := []string{}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			place := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			found = append(append(found, place), pointers(value[name], place)...)
		}
	case []any:
		for index, item := range value {
			place := fmt.Sprintf("%s/%d", at, index)
			found = append(append(found, place), pointers(item, place)...)
		}
	}
	return found
}

// An operation that mostly speaks of what is there. The library departs from the standard on indexes below zero, on null,
// on the whole document, and on replace and copy of members that are not there; such operations are not made.
func patchOperation(document []byte) map[string]any {
	var decoded any
	if err := json.Unmarshal(document, &decoded); err != nil {
		panic(err)
	}
	existing := pointers(decoded, "")
	if len(existing) == 0 {
		return map[string]any{"op": "add", "path": "/a", "value": 1}
	}
	there := func() string { return pick(existing...) }
	path := there() + pick("", "", "", "", "", "", "", "", "", "", "/-", "/0", "/1", "/9", "/a", "/a/b")
	switch dice.Intn(6) {
	case 0, 1:
		return map[string]any{"op": "add", "path": path, "value": smallDocument()}
	case 2:
		return map[string]any{"op": "remove", "path": strings.ReplaceAll(path, "/-", "/0")}
	case 3:
		return map[string]any{"op": "replace", "path": there(), "value": smallDocument()}
	case 4:
		return map[string]any{"op": "copy", "from": there(), "path": path}
	default:
		// Moving a thing into itself is refused by the standard and by us; the library loses it.
		from := there()
		for strings.HasPrefix(path+"/", from+"/") {
			from, path = there(), pick("/a", "/d", "/e/f", there())
		}
		return map[string]any{"op": "move", "from": from, "path": path}
	}
}

func smallDocument() any { return document(1, false) }

func patches() {
	merges := [][3]any{}
	for range 120 {
		target, patch := object(3, false), object(3, true)
		merged, err := jsonpatch.MergePatch(encode(target), encode(patch))
		if err != nil {
			panic(err)
		}
		merges = append(merges, [3]any{target, patch, json.RawMessage(merged)})
	}
	applied := [][3]any{}
	for range 160 {
		target := object(3, false)
		current, operations := encode(target), []map[string]any{}
		var result any
		for range 1 + dice.Intn(3) {
			operation := patchOperation(current)
			operations = append(operations, operation)
			decoded, err := jsonpatch.DecodePatch(encode([]any{operation}))
			if err != nil {
				panic(err)
			}
			if current, err = decoded.Apply(current); err != nil {
				result = "refused"
				break
			}
			result = json.RawMessage(current)
		}
		applied = append(applied, [3]any{target, operations, result})
	}
	write("patches.json", map[string]any{"merge": merges, "json": applied})
}

func statuses() {
	pods, deployment := schema.GroupResource{Resource: "pods"}, schema.GroupKind{Group: "apps", Kind: "Deployment"}
	image := field.NewPath("spec", "template", "spec", "containers").Index(0).Child("image")
	rows := map[string]*apierrors.StatusError{
		"notFound":          apierrors.NewNotFound(pods, "web"),
		"alreadyExists":     apierrors.NewAlreadyExists(pods, "web"),
		"conflict":          apierrors.NewConflict(pods, "web", errors.New("the object has been modified")),
		"unauthorized":      apierrors.NewUnauthorized(""),
		"forbidden":         apierrors.NewForbidden(pods, "web", errors.New("User \"eve\" cannot get resource")),
		"gone":              apierrors.NewGone("gone"),
		"expired":           apierrors.NewResourceExpired("too old resource version: 1 (2)"),
		"badRequest":        apierrors.NewBadRequest("the body is not JSON"),
		"tooManyRequests":   apierrors.NewTooManyRequests("slow down", 7),
		"tooManyPlain":      apierrors.NewTooManyRequestsError("slow down"),
		"unavailable":       apierrors.NewServiceUnavailable("not now"),
		"serverTimeout":     apierrors.NewServerTimeout(pods, "list", 2),
		"timeout":           apierrors.NewTimeoutError("late", 3),
		"internal":          apierrors.NewInternalError(errors.New("failed calling webhook")),
		"methodNotAllowed":  apierrors.NewMethodNotSupported(pods, "patch"),
		"tooLarge":          apierrors.NewRequestEntityTooLargeError("limit is 3145728"),
		"generic418":        apierrors.NewGenericServerResponse(418, "GET", pods, "web", "teapot", 0, true),
		"generic502":        apierrors.NewGenericServerResponse(502, "GET", pods, "web", "bad gateway", 0, true),
		"unsupportedMedia":  apierrors.NewGenericServerResponse(415, "PATCH", pods, "web", "application/x is not known", 0, false),
		"notAcceptable":     apierrors.NewGenericServerResponse(406, "GET", pods, "web", "", 0, false),
		"generateNameTaken": apierrors.NewGenerateNameConflict(pods, "web-x", 1),
		"invalid": apierrors.NewInvalid(deployment, "web", field.ErrorList{
			field.Required(image, ""),
			field.Invalid(field.NewPath("metadata", "annotations").Key("example.com/a.b"), "x", "must be good"),
			field.NotSupported(field.NewPath("spec", "strategy", "type"), "Odd", []string{"Recreate", "RollingUpdate"}),
			field.Forbidden(nil, "all of it"),
		}),
		"applyConflict": apierrors.NewApplyConflict([]metav1.StatusCause{
			{Type: metav1.CauseTypeFieldManagerConflict, Message: "conflict with \"kubectl\"", Field: ".spec.replicas"},
			{
				Type:    metav1.CauseTypeFieldManagerConflict,
				Message: "conflict with \"kube-controller-manager\" with subresource \"scale\" using apps/v1 at 2026-01-02T03:04:05Z",
				Field:   ".spec.template.spec.containers[name=\"web\"].ports[containerPort=80,protocol=\"TCP\"].name",
			},
			{Type: metav1.CauseTypeFieldManagerConflict, Message: "conflict with \"a \\\"b\\\"\" using v1", Field: ".metadata.labels.example.com/app"},
		}, "Apply failed with 3 conflicts"),
	}
	bodies := map[string]metav1.Status{}
	for name, row := range rows {
		status := row.Status()
		status.APIVersion, status.Kind = "v1", "Status"
		bodies[name] = status
	}
	write("statuses.json", bodies)
}

func main() {
	quantities()
	labelSelectors()
	names()
	patches()
	statuses()
}
