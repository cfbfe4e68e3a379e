// Signs in, reads quotes and an account, and places an order: with a client of oapi-codegen.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/orders/gateway"
)

// In an app its library for OpenID Connect does this, with the user in front of it.
func signIn() string {
	form := url.Values{"grant_type": {"password"}, "username": {"ada"}}
	response, err := http.PostForm(os.Getenv("ISSUER_URL")+"/token", form)
	check(err)
	defer response.Body.Close()
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	check(json.NewDecoder(response.Body).Decode(&answer))
	return answer.AccessToken
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Ends the program unless the status is the one that was hoped for. The code is for programs, the detail for people.
func expect(status, wanted int, body []byte) {
	if status != wanted {
		refusal := refusalIn(body)
		log.Fatalf("status %d, %s: %s", status, refusal.Code, refusal.Detail)
	}
}

// Of an answer of any status but 200 and 304.
func refusalIn(body []byte) (refusal gateway.Refusal) {
	check(json.Unmarshal(body, &refusal))
	return refusal
}

// A time as the upstream writes it: milliseconds, the same in digits, or ISO 8601 text with +0000.
func instant(moment any) time.Time {
	if number, ok := moment.(float64); ok {
		return time.UnixMilli(int64(number)).UTC()
	}
	text := fmt.Sprint(moment)
	if digits, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.UnixMilli(digits).UTC()
	}
	at, err := time.Parse(time.RFC3339Nano, strings.Replace(text, "+0000", "Z", 1))
	check(err)
	return at.UTC()
}

func text(value *string) string {
	if value == nil {
		return "nothing"
	}
	return *value
}

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	token := signIn()
	fmt.Println("sign-in ok")
	// The key says which app calls, the token who.
	client, err := gateway.NewClientWithResponses(os.Getenv("GATEWAY_URL"), gateway.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("x-api-key", os.Getenv("API_KEY"))
			request.Header.Set("authorization", "Bearer "+token)
			return nil
		}))
	check(err)

	readQuotes(ctx, client)
	account := readAccounts(ctx, client)
	placeOrder(ctx, client, account)
	readBars(ctx, client)

	// Another user's account, or one that there is not: the answer is the same.
	wrong := &gateway.GetAccountBalanceParams{AccountId: "NOT-OF-THIS-USER"}
	refused, err := client.GetAccountBalanceWithResponse(ctx, wrong)
	check(err)
	expect(refused.StatusCode(), http.StatusForbidden, refused.Body)
	refusal := refusalIn(refused.Body)
	fmt.Printf("refusal ok %s: %s\n", refusal.Code, refusal.Detail)
}

func readQuotes(ctx context.Context, client *gateway.ClientWithResponses) {
	params := gateway.GetStockSnapshotsParams{Symbols: []string{"AAPL", "MSFT"}, Category: gateway.CategoryUSSTOCK}
	first, err := client.GetStockSnapshotsWithResponse(ctx, &params)
	check(err)
	expect(first.StatusCode(), http.StatusOK, first.Body)
	apple := (*first.JSON200)[0]
	pollAfter, err := strconv.Atoi(first.HTTPResponse.Header.Get("x-poll-after"))
	check(err)
	fmt.Printf("snapshots ok %s %s, ask again after %d s\n", apple.Symbol, text(apple.Price), pollAfter)

	etag := first.HTTPResponse.Header.Get("etag")
	conditional := params
	conditional.IfNoneMatch = &etag
	again, err := client.GetStockSnapshotsWithResponse(ctx, &conditional)
	check(err)
	expect(again.StatusCode(), http.StatusNotModified, again.Body)
	fmt.Println("not-modified ok")
	// Nothing new is there before: an app waits as long as it is told.
	time.Sleep(time.Duration(pollAfter) * time.Second)
	later, err := client.GetStockSnapshotsWithResponse(ctx, &params)
	check(err)
	expect(later.StatusCode(), http.StatusOK, later.Body)
}

func readAccounts(ctx context.Context, client *gateway.ClientWithResponses) string {
	list, err := client.ListAccountsWithResponse(ctx, nil)
	check(err)
	expect(list.StatusCode(), http.StatusOK, list.Body)
	if len(*list.JSON200) == 0 {
		log.Fatal("no account is granted to this user")
	}
	account := (*list.JSON200)[0]
	fmt.Println("accounts ok", text(account.AccountLabel))

	balance, err := client.GetAccountBalanceWithResponse(ctx, &gateway.GetAccountBalanceParams{AccountId: account.AccountId})
	check(err)
	expect(balance.StatusCode(), http.StatusOK, balance.Body)
	fmt.Println("balance ok", text(balance.JSON200.TotalCashBalance), balance.JSON200.TotalAssetCurrency)
	return account.AccountId
}

func placeOrder(ctx context.Context, client *gateway.ClientWithResponses, account string) {
	id := strings.ToLower(rand.Text())
	// A decimal is text from the user's input to the wire: no digit is lost.
	quantity, price, session := "1.50", "20.50", gateway.CORE
	placed, err := client.PlaceOrderWithResponse(ctx, nil, gateway.PlaceOrderBody{
		AccountId: account,
		NewOrders: []gateway.PlaceOrderBodyNewOrder{{
			ClientOrderId:         id,
			ComboType:             gateway.PlaceOrderBodyNewOrderComboTypeNORMAL,
			InstrumentType:        gateway.PlaceOrderBodyNewOrderInstrumentTypeEQUITY,
			EntrustType:           gateway.PlaceOrderBodyNewOrderEntrustTypeQTY,
			Symbol:                "AAPL",
			Market:                gateway.US,
			Side:                  gateway.SideBUY,
			OrderType:             gateway.OrderTypeLIMIT,
			LimitPrice:            &price,
			Quantity:              &quantity,
			TimeInForce:           gateway.TimeInForceGTC,
			SupportTradingSession: &session,
		}},
	})
	check(err)
	if placed.StatusCode() == http.StatusBadGateway && refusalIn(placed.Body).Code == "outcome_unknown" {
		// The order may have been placed: it is read, and never sent again unless it is not there.
		fmt.Println("The answer was lost.", text(refusalIn(placed.Body).FindOut))
		readOrder(ctx, client, account, id)
	} else {
		expect(placed.StatusCode(), http.StatusOK, placed.Body)
	}
	fmt.Println("order ok", id)

	shown := readOrder(ctx, client, account, id)
	fmt.Printf("get-order ok %s, %s shares, %s\n", shown.Status, text(shown.TotalQuantity), instant(shown.PlaceTime))
}

func readOrder(ctx context.Context, client *gateway.ClientWithResponses, account, id string) gateway.GetOrderOrder {
	params := &gateway.GetOrderParams{AccountId: account, ClientOrderId: id}
	found, err := client.GetOrderWithResponse(ctx, params)
	check(err)
	expect(found.StatusCode(), http.StatusOK, found.Body)
	return found.JSON200.Orders[0]
}

func readBars(ctx context.Context, client *gateway.ClientWithResponses) {
	bars, err := client.ListStockBarsWithResponse(ctx, nil, gateway.ListStockBarsBody{
		Symbols:  []string{"AAPL"},
		Category: gateway.CategoryUSSTOCK,
		Timespan: gateway.TimespanD,
	})
	check(err)
	expect(bars.StatusCode(), http.StatusOK, bars.Body)
	last := bars.JSON200.Result[0].Result
	bar := last[len(last)-1]
	fmt.Printf("bars ok %d, last %s %s\n", len(last), instant(bar.Time).Format(time.DateOnly), text(bar.Close))
}
