// A prepared event → POST /v1/approvals of the bridge, and what each answer leads to. For webhook and stream.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"
)

const askFor = time.Minute // how long a bridge that cannot answer is asked

// client follows no redirect, which would get the token.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// startRequest is the body of an approval. With Seen, nothing worse than what was seen is approved.
func startRequest(eventID, seen string) []byte {
	type request struct{ EventId, Seen string }
	body, _ := json.Marshal(map[string][]request{"StartRequests": {{eventID, seen}}})
	return body
}

// approveByHTTP returns the state, or the type of the problem. It asks again while that may help.
func approveByHTTP(ctx context.Context, eventID, seen string) string {
	body := startRequest(eventID, seen)
	for pause, last := 500*time.Millisecond, time.Now().Add(askFor); ; pause = min(2*pause, 10*time.Second) {
		status, answer, retryAfter := post(ctx, body)
		mayChange := slices.Contains([]int{0, 429, 502, 503, 504}, status)
		if !mayChange || time.Now().After(last) {
			return answer
		}
		if sleep(ctx, max(pause, retryAfter)) != nil {
			return ""
		}
	}
}

func post(ctx context.Context, body []byte) (status int, answer string, retryAfter time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	response, err := send(ctx, http.MethodPost, "/v1/approvals", body, "")
	if err != nil {
		return 0, "unreachable", 0
	}
	defer response.Body.Close()
	var read struct {
		Type    string
		Results []struct{ State string }
	}
	_ = json.NewDecoder(response.Body).Decode(&read) // the page of a proxy has neither
	answer = cmp.Or(read.Type, response.Status)
	if response.StatusCode < 300 && len(read.Results) > 0 {
		answer = read.Results[0].State
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return response.StatusCode, answer, time.Duration(seconds) * time.Second
}

// send asks the bridge. The token is an approver's, which may read, too.
func send(ctx context.Context, method, path string, body []byte, position string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, env("BRIDGE", "http://127.0.0.1:8700")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+os.Getenv("BRIDGE_TOKEN"))
	if position != "" {
		request.Header.Set("Last-Event-ID", position)
	}
	return client.Do(request)
}
