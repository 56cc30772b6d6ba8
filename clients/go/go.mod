module finance-sandbox

go 1.19
