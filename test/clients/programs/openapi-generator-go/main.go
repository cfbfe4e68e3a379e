// The steps of docs/examples with a client of openapi-generator's go.
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

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

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

// Of an error of the client; nothing where the call went well.
func refusalOf(err error) *openapi.Refusal {
	if err == nil {
		return nil
	}
	failed, ok := err.(*openapi.GenericOpenAPIError)
	if !ok {
		log.Fatal(err)
	}
	refusal, ok := failed.Model().(openapi.Refusal)
	if !ok {
		log.Fatal(err)
	}
	return &refusal
}

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

func main() {
	log.SetFlags(0)
	token := signIn()
	fmt.Println("sign-in ok")
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: os.Getenv("GATEWAY_URL")}}
	client := openapi.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), openapi.ContextAPIKeys,
		map[string]openapi.APIKey{"api_key": {Key: os.Getenv("API_KEY")}})
	ctx = context.WithValue(ctx, openapi.ContextAccessToken, token)

	quotes := client.MarketDataAPI.GetStockSnapshots(ctx).Symbols([]string{"AAPL", "MSFT"}).Category(openapi.US_STOCK)
	first, answer, err := quotes.Execute()
	check(err)
	pollAfter, err := strconv.Atoi(answer.Header.Get("x-poll-after"))
	check(err)
	fmt.Printf("snapshots ok %s %s, ask again after %d s\n", first[0].Symbol, first[0].GetPrice(), pollAfter)
	_, again, err := quotes.IfNoneMatch(answer.Header.Get("etag")).Execute()
	if again == nil || again.StatusCode != http.StatusNotModified {
		log.Fatal("no 304: ", err)
	}
	fmt.Println("not-modified ok")
	time.Sleep(time.Duration(pollAfter) * time.Second)
	_, _, err = quotes.Execute()
	check(err)

	accounts, _, err := client.AccountsAPI.ListAccounts(ctx).Execute()
	check(err)
	account := accounts[0].AccountId
	fmt.Println("accounts ok", accounts[0].GetAccountLabel())
	balance, _, err := client.AccountsAPI.GetAccountBalance(ctx).AccountId(account).Execute()
	check(err)
	fmt.Println("balance ok", balance.GetTotalCashBalance(), balance.TotalAssetCurrency)

	placeOrder(ctx, client, account)

	body := openapi.NewListStockBarsBody([]string{"AAPL"}, openapi.US_STOCK, openapi.D)
	bars, _, err := client.MarketDataAPI.ListStockBars(ctx).ListStockBarsBody(*body).Execute()
	check(err)
	last := bars.Result[0].Result
	bar := last[len(last)-1]
	fmt.Println("bars ok", len(last), instant(bar.Time).Format(time.DateOnly), *bar.Close.Get())

	_, _, err = client.AccountsAPI.GetAccountBalance(ctx).AccountId("NOT-OF-THIS-USER").Execute()
	refusal := refusalOf(err)
	if refusal == nil {
		log.Fatal("the balance of another account was shown")
	}
	fmt.Printf("refusal ok %s: %s\n", refusal.Code, refusal.Detail)
}

func placeOrder(ctx context.Context, client *openapi.APIClient, account string) {
	id := strings.ToLower(rand.Text())
	order := openapi.NewPlaceOrderBodyNewOrder(id, "NORMAL", "EQUITY", "QTY", "AAPL", openapi.US, openapi.BUY, openapi.LIMIT, openapi.GTC)
	order.SetLimitPrice("20.50")
	order.SetQuantity("1.50")
	order.SetSupportTradingSession(openapi.CORE)
	body := openapi.NewPlaceOrderBody(account, []openapi.PlaceOrderBodyNewOrder{*order})
	_, _, err := client.OrdersAPI.PlaceOrder(ctx).PlaceOrderBody(*body).Execute()
	read := client.OrdersAPI.GetOrder(ctx).AccountId(account).ClientOrderId(id)
	if refusal := refusalOf(err); refusal != nil {
		if refusal.Code != "outcome_unknown" {
			log.Fatalf("%s: %s", refusal.Code, refusal.Detail)
		}
		_, _, err = read.Execute()
		check(err)
	}
	fmt.Println("order ok", id)
	found, _, err := read.Execute()
	check(err)
	shown := found.Orders[0]
	fmt.Printf("get-order ok %s, %s shares, %s\n", shown.Status, *shown.TotalQuantity.Get(), instant(shown.PlaceTime))
}
