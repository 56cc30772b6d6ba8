# frozen_string_literal: true

require "open3"
require "finance_sandbox/rspec"

RSpec.describe "RSpec helper", :sandbox do
  it "gives each example a world of its own" do
    world.client.post("/v1/payroll/run", { company_id: world.client.get("/api/business/companies").body["data"][0]["id"], period: "2026-01" })
    expect(world.events(type: "payroll_run.created").size).to eq 1
  end

  it "gives another example another world" do
    expect(world.events).to be_empty
  end

  it "prints what happened in the world of an example that fails" do
    script = <<~'RUBY'
      require "rspec/autorun"
      require "finance_sandbox/rspec"
      RSpec.describe "failing", :sandbox do
        it "fails" do
          world.client.get("/api/business/employees/emp_0000000000000") rescue nil
          expect(1).to eq 2
        end
      end
    RUBY
    output, = Open3.capture2(RbConfig.ruby, "-I", $LOAD_PATH.grep(/clients.ruby.lib/).first, "-e", script)
    expect(output).to include("GET /api/business/employees/emp_0000000000000 404 resource_not_found", "1 example, 1 failure")
  end
end
