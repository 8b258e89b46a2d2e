"""What a request costs: DynamoDB calls, capacity, CPU and speed, each beside what it is compared with."""
